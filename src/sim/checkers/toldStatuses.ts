/** What a pod status says of the instances it shows. */
import type { ApiContainerStatus, PodStatus } from "../../core/api.ts";

/** Entries of init and regular containers that run, by the runtime's ID of the instance. */
export function toldRunning(status: PodStatus | undefined): ReadonlyMap<string, ApiContainerStatus> {
  const told = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const running = told.filter(({ state }) => state?.running !== undefined);
  return new Map(running.map((each) => [each.containerID?.split("://")[1] ?? "", each]));
}
