/** Finds the container instance whose log is requested, from the pod's status. Upstream: validateContainerLogStatus. */
import type { ApiContainerStatus, Pod } from "../api.ts";
import { allContainers, allContainerStatuses } from "../pod/containers.ts";
import type { LogRefusal } from "./podLogOptions.ts";

/** Returns the instance's ID as in the status (`containerd://...`), or why there is no log. */
export function logContainerId(pod: Pod, container: string, previous: boolean): string | LogRefusal {
  const where = `container ${JSON.stringify(container)} in pod ${JSON.stringify(pod.metadata.name)}`;
  const refuse = (message: string): LogRefusal => ({ status: 400, message });
  const found = statusOf(pod, container);
  if (found === undefined) return refuse(`${where} is not available`);
  const { waiting, running, terminated } = found.state ?? {};
  const last = found.lastState?.terminated;
  // An empty ID counts as absent: the container was lost, or never created.
  const lastId = last?.containerID || undefined;
  if (previous) return lastId ?? refuse(`previous terminated ${where} not found`);
  if (running !== undefined) return found.containerID ?? refuse(`${where} is not available`);
  if (terminated !== undefined) return (terminated.containerID || lastId) ?? refuse(`${where} is terminated`);
  if (last !== undefined) return lastId ?? refuse(`${where} is terminated`);
  if (waiting === undefined) return refuse(`${where} is waiting to start - no logs yet`);
  return refuse(`${where} is waiting to start: ${waitingText(waiting.reason ?? "")}`);
}

function waitingText(reason: string): string {
  if (reason === "ErrImagePull") return "image can't be pulled";
  return reason === "ImagePullBackOff" ? "trying and failing to pull image" : reason;
}

const statusOf = ({ status }: Pod, container: string): ApiContainerStatus | undefined =>
  allContainerStatuses(status).find(({ name }) => name === container);

/** Returns whether the pod's spec has a container of that name, of any kind. */
export const hasContainer = ({ spec }: Pod, name: string): boolean =>
  allContainers(spec).some((container) => container.name === name);
