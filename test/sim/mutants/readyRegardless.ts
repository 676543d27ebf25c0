import type { ApiContainerStatus, PodStatus } from "../../../src/core/api.ts";
import { type Mutant, withStatuses } from "./mutant.ts";

const readied = (container: ApiContainerStatus): ApiContainerStatus =>
  container.state?.running !== undefined && container.started === true ? { ...container, ready: true } : container;

const reported = (status: PodStatus): PodStatus =>
  status.containerStatuses === undefined
    ? status
    : { ...status, containerStatuses: status.containerStatuses.map(readied) };

/** Reports every started container as ready. */
export const readyRegardless: Mutant = {
  bug: "a container is ready although its readiness probe fails",
  caughtBy: "readyFollowsVerdict",
  createKubelet: withStatuses(reported),
};
