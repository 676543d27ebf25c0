/**
 * Plans the regular containers of a live sandbox: start those that should run, kill those whose definition changed or
 * whose probes failed, keep the rest. Upstream: the main loop of computePodActions.
 */
import type { Container } from "../api.ts";
import { containerSpecHash } from "../container/specHash.ts";
import type { RuntimeContainer } from "../runtime/podRuntimeStatus.ts";
import { killOf, verdictOn } from "./killOf.ts";
import type { ContainerKill, PodActionsInput } from "./podActionsTypes.ts";
import { newestContainer, restartsAfterKill, shouldContainerBeRestarted } from "./restartRules.ts";

/** The part of the plan for regular containers. */
export interface RegularContainerActions {
  /** Indexes into `spec.containers`. */
  readonly starts: readonly number[];
  readonly kills: readonly ContainerKill[];
  /** Running containers that are kept unchanged. */
  readonly keepCount: number;
}

interface KillCause {
  readonly text: string;
  readonly reason: ContainerKill["reason"];
}

function killCause(input: PodActionsInput, spec: Container, container: RuntimeContainer): KillCause | undefined {
  if (container.specHash !== containerSpecHash(spec)) return { text: "definition changed", reason: "SpecChanged" };
  const verdict = verdictOn(container, input.verdicts);
  if (verdict?.live !== false) {
    return input.resizeRestarts.has(spec.name) ? { text: "resize requires restart", reason: "Resized" } : undefined;
  }
  return verdict.started
    ? { text: "failed liveness probe", reason: "LivenessProbe" }
    : { text: "failed startup probe", reason: "StartupProbe" };
}

/** Plans the regular containers of an initialized pod. */
export function regularContainerActions(input: PodActionsInput): RegularContainerActions {
  const { pod, runtime } = input;
  const starts: number[] = [];
  const kills: ContainerKill[] = [];
  let keepCount = 0;
  for (const [index, spec] of pod.spec.containers.entries()) {
    const container = newestContainer(runtime, spec.name);
    if (container?.state !== "running") {
      if (!shouldContainerBeRestarted(spec, pod, runtime)) continue;
      starts.push(index);
      // The container may be running: two instances of a container must never run at the same time.
      if (container?.state === "unknown") {
        const message = 'Container is in "unknown" state, try killing it before restart';
        kills.push(killOf(container, message, "Unknown"));
      }
      continue;
    }
    const cause = killCause(input, spec, container);
    if (cause === undefined) {
      keepCount += 1;
      continue;
    }
    // A changed definition or size restarts the container regardless of its restart policy.
    const isChanged = cause.reason === "SpecChanged" || cause.reason === "Resized";
    const restarts = isChanged || restartsAfterKill(spec, pod.spec);
    if (restarts) starts.push(index);
    const consequence = restarts && cause.reason !== "Resized" ? ", will be restarted" : "";
    const message = `Container ${spec.name} ${cause.text}${consequence}`;
    kills.push(killOf(container, message, cause.reason));
  }
  return { starts, kills, keepCount };
}
