/** Final status of a pod whose containers are all gone. Upstream: TerminatePod of the status manager. */
import type { ApiContainerStatus, Pod, PodStatus } from "../api.ts";
import { lostState } from "./apiContainerStatus.ts";
import { isSidecar } from "./containers.ts";
import { isStaticPod } from "./criticalPod.ts";
import { isTerminalPhase } from "./phase.ts";

const MESSAGE = "The container could not be located when the pod was terminated";

const ended = (status: ApiContainerStatus): ApiContainerStatus =>
  status.state?.terminated === undefined ? { ...status, state: lostState(MESSAGE) } : status;

const wasSeen = ({ state, lastState }: ApiContainerStatus): boolean =>
  state?.running !== undefined || state?.terminated !== undefined || lastState?.terminated !== undefined;

/** Terminates the init containers up to the last that ever ran; later ones never started. */
function endedInit(statuses: readonly ApiContainerStatus[]): readonly ApiContainerStatus[] {
  const last = statuses.findLastIndex(wasSeen);
  return statuses.map((status, index) => (index <= last ? ended(status) : status));
}

function hasInitialized(pod: Pod, { initContainerStatuses, containerStatuses }: PodStatus): boolean {
  const specs = pod.spec.initContainers ?? [];
  if (specs.length === 0 || (containerStatuses ?? []).some(wasSeen)) return true;
  const last = specs.at(-1);
  const status = initContainerStatuses?.find(({ name }) => name === last?.name);
  if (last !== undefined && isSidecar(last)) return status?.started === true;
  return status?.state?.terminated?.exitCode === 0;
}

/**
 * Returns `status` with every container terminated. Once a pod was initialized, a container without a termination
 * counts as failed. A pod from the API server that has not Succeeded becomes Failed.
 */
export function terminatedPodStatus(pod: Pod, status: PodStatus): PodStatus {
  const { containerStatuses: regular = [], initContainerStatuses: init } = status;
  const isOver = isTerminalPhase(status.phase) || isStaticPod(pod);
  return {
    ...status,
    ...(isOver ? {} : { phase: "Failed" }),
    ...(init === undefined ? {} : { initContainerStatuses: endedInit(init) }),
    containerStatuses: hasInitialized(pod, status) ? regular.map(ended) : regular,
  };
}
