/**
 * Plans the termination of a pod: all containers except sidecars together, then sidecars one by one in reverse order,
 * then the sandboxes. Upstream: killContainersWithSyncResult with its termination ordering,
 * ConvertPodStatusToRunningPod.
 */
import type { Pod } from "../api.ts";
import type { SandboxId } from "../ids.ts";
import type { PodRuntimeStatus, RuntimeContainer } from "../runtime/podRuntimeStatus.ts";
import { isSidecar } from "./containers.ts";
import { containerGraceSeconds, remainingGraceSeconds } from "./gracePeriod.ts";
import { killOf } from "./killOf.ts";
import type { ContainerKill } from "./podActionsTypes.ts";
import { stoppingMessage } from "./podEvents.ts";
import { allNamed } from "../findNamed.ts";

/** A container to stop and its grace period. */
export interface ContainerStop extends ContainerKill {
  /** Minimum: two seconds. */
  readonly graceSeconds: number;
}

/** The ordered stops of a pod. */
export interface PodKillPlan {
  /** Containers of one stage stop together. A stage starts when the previous one has ended. */
  readonly stages: readonly (readonly ContainerStop[])[];
  /** Sandboxes to stop after the last stage, newest first. Stopping a sandbox twice is harmless. */
  readonly sandboxes: readonly SandboxId[];
}

// A container in state unknown may be running.
const mayRun = ({ state }: RuntimeContainer): boolean => state === "running" || state === "unknown";

/** Plans the termination. `graceSeconds` overrides the grace period of every container. */
export function planPodKill(pod: Pod, runtime: PodRuntimeStatus, graceSeconds: number | undefined): PodKillPlan {
  const initSpecs = pod.spec.initContainers ?? [];
  const stopOf = (container: RuntimeContainer): ContainerStop => {
    // The specs of containers have grace periods only for failed probes.
    const grace = containerGraceSeconds(pod, undefined, "PodShouldStop", graceSeconds);
    const kill = killOf(container, stoppingMessage(container.name), "PodShouldStop");
    return { ...kill, graceSeconds: remainingGraceSeconds(grace, 0) };
  };
  const sidecarNames = initSpecs.filter(isSidecar).map(({ name }) => name);
  const candidates = runtime.containers.filter(mayRun);
  const areSidecars = new Set(sidecarNames);
  const first = candidates.filter(({ name }) => !areSidecars.has(name));
  const sidecars = sidecarNames.reverse().map((wanted) => allNamed(candidates, wanted));
  return {
    stages: [first, ...sidecars].filter((stage) => stage.length > 0).map((stage) => stage.map(stopOf)),
    sandboxes: runtime.sandboxes.map(({ id }) => id),
  };
}
