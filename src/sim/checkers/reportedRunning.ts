/** Reads the running containers of a pod status. */
import type { ApiContainerStatus, PodStatus } from "../../core/api.ts";
import { podContainerStatuses } from "../../core/pod/containers.ts";

/** Returns the statuses of running init and regular containers by container ID of the runtime. */
export function reportedRunning(status: PodStatus | undefined): ReadonlyMap<string, ApiContainerStatus> {
  const reported = podContainerStatuses(status);
  const running = reported.filter(({ state }) => state?.running !== undefined);
  return new Map(running.map((each) => [each.containerID?.split("://")[1] ?? "", each]));
}
