/**
 * Decides which containers a sync starts in a new sandbox, or that no sandbox is needed. Upstream: the createPodSandbox
 * branch of computePodActions.
 */
import type { Container, Pod } from "../api.ts";
import { isRunning } from "../runtime/isRunning.ts";
import type { PodRuntimeStatus } from "../runtime/podRuntimeStatus.ts";
import { canRestart, newestContainer, restartsAfterExit } from "./restartRules.ts";
import { sandboxChange } from "./sandboxChange.ts";

/** First containers of a new sandbox. Undefined when the pod has no container left to run. */
export interface NewSandboxActions {
  /** Indexes into `spec.initContainers`. */
  readonly initStarts: readonly number[];
  /** Indexes into `spec.containers`. */
  readonly regularStarts: readonly number[];
}

// Differs from upstream: a container that exited permanently stays so even when every sandbox was removed meanwhile.
function startsInNewSandbox(spec: Container, pod: Pod, runtime: PodRuntimeStatus): boolean {
  const newest = newestContainer(runtime, spec.name);
  if (newest === undefined || newest.state === "created") return true;
  // A running container dies with the old sandbox, so its exit code is unknown.
  return newest.state === "exited" ? restartsAfterExit(spec, pod.spec, newest.exitCode) : canRestart(spec, pod.spec);
}

// True when the pod ran once and must not run twice. Without any container, the first sandbox was never used: try
// again. Differs from upstream: containers with a restart policy of their own are restarted even if the pod's policy is
// Never.
function mayNotRunAgain(pod: Pod, runtime: PodRuntimeStatus, attempt: number): boolean {
  const isRestartable = pod.spec.containers.some((spec) => canRestart(spec, pod.spec));
  return !isRestartable && attempt !== 0 && runtime.containers.length > 0;
}

/** Plans the start of a pod in a new sandbox with the given attempt. */
export function newSandboxActions(pod: Pod, runtime: PodRuntimeStatus, attempt: number): NewSandboxActions | undefined {
  const { containers, initContainers = [] } = pod.spec;
  if (mayNotRunAgain(pod, runtime, attempt)) return undefined;
  const regularStarts = [...containers.keys()].filter((index) => {
    const spec = containers[index];
    return spec !== undefined && startsInNewSandbox(spec, pod, runtime);
  });
  const ranBefore = containers.some((spec) => {
    const state = newestContainer(runtime, spec.name)?.state;
    return state !== undefined && state !== "unknown";
  });
  if (regularStarts.length === 0 && ranBefore) return undefined;
  return initContainers.length > 0 ? { initStarts: [0], regularStarts: [] } : { initStarts: [], regularStarts };
}

/**
 * Whether a pod that must not run again lost its sandbox before every container had exited. No container of it starts
 * again, but container statuses alone do not show that.
 */
export function hasLostItsSandbox(pod: Pod, runtime: PodRuntimeStatus): boolean {
  const { changed, attempt } = sandboxChange(pod, runtime);
  if (!changed || isRunning(runtime) || !mayNotRunAgain(pod, runtime, attempt)) return false;
  return pod.spec.containers.some((spec) => newestContainer(runtime, spec.name)?.state !== "exited");
}
