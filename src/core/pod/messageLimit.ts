/** Limits the total size of termination messages in a pod status. Upstream: normalizeStatus of the status manager. */
import type { ApiContainerStatus, PodSpec } from "../api.ts";
import { firstBytes } from "../runtime/terminationMessage.ts";

/** Bytes shared evenly by all containers of a pod. */
const MAX_POD_MESSAGE_BYTES = 12 * 1024;

type ContainerState = NonNullable<ApiContainerStatus["state"]>;

/** Returns the message bytes that each container of the pod may show. */
export function messageBytesPerContainer({ containers, initContainers, ephemeralContainers }: PodSpec): number {
  const count = containers.length + (initContainers?.length ?? 0) + (ephemeralContainers?.length ?? 0);
  return Math.floor(MAX_POD_MESSAGE_BYTES / Math.max(1, count));
}

function limitedState(state: ContainerState, maxBytes: number): ContainerState {
  const { terminated } = state;
  if (terminated?.message === undefined) return state;
  return { ...state, terminated: { ...terminated, message: firstBytes(terminated.message, maxBytes) } };
}

/** Truncates the messages of the state and the last state to `maxBytes`. */
export const withLimitedMessages = (status: ApiContainerStatus, maxBytes: number): ApiContainerStatus => ({
  ...status,
  ...(status.state === undefined ? {} : { state: limitedState(status.state, maxBytes) }),
  ...(status.lastState === undefined ? {} : { lastState: limitedState(status.lastState, maxBytes) }),
});
