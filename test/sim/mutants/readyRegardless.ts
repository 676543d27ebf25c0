import type { ApiContainerStatus, Pod } from "../../../src/core/api.ts";
import { createKubelet } from "../../../src/kubelet.ts";
import type { Mutant } from "./mutant.ts";

const readied = (container: ApiContainerStatus): ApiContainerStatus =>
  container.state?.running !== undefined && container.started === true ? { ...container, ready: true } : container;

const reported = (pods: readonly Pod[], known: WeakMap<object, object>): readonly Pod[] =>
  pods.map((pod) => {
    const { status } = pod;
    if (status?.containerStatuses === undefined) return pod;
    const altered = known.get(status) ?? { ...status, containerStatuses: status.containerStatuses.map(readied) };
    known.set(status, altered);
    return { ...pod, status: altered };
  });

/** Reports every started container as ready. */
export const readyRegardless: Mutant = {
  bug: "a container is ready although its readiness probe fails",
  caughtBy: "readyFollowsVerdict",
  createKubelet(config, ports) {
    const kubelet = createKubelet(config, ports);
    const known = new WeakMap<object, object>();
    return { ...kubelet, queries: { ...kubelet.queries, pods: () => reported(kubelet.queries.pods(), known) } };
  },
};
