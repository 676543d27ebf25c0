/**
 * Derives the pod phase from container statuses. status.ts applies overrides and keeps a terminal phase. Upstream:
 * getPhase (pkg/kubelet/kubelet_pods.go).
 */
import type { ApiContainerStatus, Container, Pod, PodSpec } from "../api.ts";
import type { PodRuntimeStatus } from "../runtime/podRuntimeStatus.ts";
import { isSidecar } from "./containers.ts";
import { isStaticPod } from "./criticalPod.ts";
import { RESTARTING_ALL } from "./restartAllContainers.ts";
import { restartsAfterExit } from "./restartRules.ts";
import { findNamed } from "../findNamed.ts";

export type PodPhase = "Pending" | "Running" | "Succeeded" | "Failed";

/** Inputs of the pod phase. */
export interface PhaseInput {
  readonly pod: Pod;
  readonly initStatuses: readonly ApiContainerStatus[];
  readonly regularStatuses: readonly ApiContainerStatus[];
  /** Whether no container will start again, regardless of the restart policy. */
  readonly terminal: boolean;
  /**
   * Whether a regular container was created in the current sandbox. A restarting sidecar then does not make the pod
   * Pending.
   */
  readonly initialized: boolean;
}

/** Whether the phase is final. */
export const isTerminalPhase = (phase: string | undefined): phase is "Succeeded" | "Failed" =>
  phase === "Succeeded" || phase === "Failed";

/** Whether a regular container was created in the current sandbox. Upstream: HasAnyActiveRegularContainerStarted. */
export function hasRegularContainerInSandbox({ containers }: PodSpec, runtime: PodRuntimeStatus): boolean {
  const [newest] = runtime.sandboxes;
  if (newest?.ready !== true) return false;
  const names = new Set(containers.map(({ name }) => name));
  return runtime.containers.some(({ name, sandboxId }) => sandboxId === newest.id && names.has(name));
}

/** Whether a regular container has run in this pod, which implies that initialization completed once. */
export function hasAnyRegularContainerStarted(spec: PodSpec, statuses: readonly ApiContainerStatus[]): boolean {
  return spec.containers.some(({ name }) => {
    const status = findNamed(statuses, name);
    return status?.state?.running !== undefined || status?.state?.terminated !== undefined;
  });
}

/** Whether a container that terminated this way is to be restarted. */
const startsAgain = (spec: Container, pod: Pod, ended: { readonly exitCode: number; readonly reason?: string }) =>
  ended.reason === RESTARTING_ALL || restartsAfterExit(spec, pod.spec, ended.exitCode);

/** State of an init container or sidecar as far as the phase depends on it; undefined: it does not. */
type InitState = "pending" | "startingSidecar" | "dead" | "waiting" | "running" | undefined;

function initState(spec: Container, pod: Pod, status: ApiContainerStatus | undefined): InitState {
  const { running, terminated, waiting } = status?.state ?? {};
  const ended = terminated ?? (waiting === undefined ? undefined : status?.lastState?.terminated);
  if (running !== undefined || ended === undefined) return "pending";
  return ended.exitCode !== 0 && !startsAgain(spec, pod, ended) ? "dead" : undefined;
}

// A terminated sidecar does not affect the phase; a sidecar that never ran keeps the pod Pending.
function sidecarState(status: ApiContainerStatus | undefined): InitState {
  const { running, terminated, waiting } = status?.state ?? {};
  if (running !== undefined) return status?.started === true ? "running" : "startingSidecar";
  const ended = terminated ?? (waiting === undefined ? undefined : status?.lastState?.terminated);
  return ended === undefined ? "waiting" : undefined;
}

/** State of a regular container. One without status waits. */
type RegularState =
  | { readonly kind: "running" | "waiting" }
  | { readonly kind: "stopped"; readonly succeeded: boolean; readonly restarts: boolean };

function regularState(spec: Container, pod: Pod, status: ApiContainerStatus | undefined): RegularState {
  const { running, terminated, waiting } = status?.state ?? {};
  if (running !== undefined) return { kind: "running" };
  const ended = terminated ?? (waiting === undefined ? undefined : status?.lastState?.terminated);
  if (ended === undefined) return { kind: "waiting" };
  return { kind: "stopped", succeeded: terminated?.exitCode === 0, restarts: startsAgain(spec, pod, ended) };
}

/** Returns the phase that the statuses imply. The caller keeps a terminal phase. */
export function podPhase({ pod, initStatuses, regularStatuses, terminal, initialized }: PhaseInput): PodPhase {
  const init = new Set(
    (pod.spec.initContainers ?? []).map((spec) => {
      const status = findNamed(initStatuses, spec.name);
      return isSidecar(spec) ? sidecarState(status) : initState(spec, pod, status);
    }),
  );
  const regular = pod.spec.containers.map((spec) => regularState(spec, pod, findNamed(regularStatuses, spec.name)));
  const isAny = (kind: "running" | "waiting"): boolean => init.has(kind) || regular.some((each) => each.kind === kind);
  const restarts = regular.some((each) => each.kind === "stopped" && each.restarts);
  if (init.has("dead")) return "Failed";
  // When all regular containers are done, missing init containers do not matter: they are not rerun.
  const isDone = regular.every(({ kind }) => kind === "stopped") && !restarts;
  const isStarting = init.has("pending") || (init.has("startingSidecar") && !initialized) || isAny("waiting");
  if (!isDone && isStarting) return "Pending";
  if (isAny("running") || init.has("startingSidecar")) return "Running";
  const ended = regular.every((each) => each.kind === "stopped" && each.succeeded) ? "Succeeded" : "Failed";
  if (terminal && !isStaticPod(pod)) return ended;
  return restarts ? "Running" : ended;
}
