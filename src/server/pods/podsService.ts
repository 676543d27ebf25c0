/** Handlers of the Pods API v1alpha1, with upstream's errors. Upstream: pkg/kubelet/apis/pods/server.go. */
import { status } from "@grpc/grpc-js";
import { listedPods } from "../../core/podsApi/podChanges.ts";
import { encodePod } from "../../core/podsApi/podMessage.ts";
import { PodsDefinition } from "../../gen/pods.ts";
import { grpcService } from "../../grpcServer/grpcService.ts";
import { RpcFault } from "../../grpcServer/rpcFault.ts";
import type { KubeletQueries } from "../../ports/kubeletQueries.ts";
import type { JoinWatch } from "./podWatch.ts";

/** The state that the handlers read. */
export type PodsQueries = Pick<KubeletQueries, "pods" | "arePodsKnown">;

/**
 * Returns the service. `mayServe` refuses requests beyond the limit. Differs from upstream: a watch counts as a request,
 * since it begins with all pods.
 */
export function podsService(queries: PodsQueries, joinWatch: JoinWatch, mayServe: () => boolean) {
  const check = (): void => {
    if (!mayServe()) throw new RpcFault(status.RESOURCE_EXHAUSTED, "rejected by rate limit");
    if (!queries.arePodsKnown()) throw new RpcFault(status.FAILED_PRECONDITION, "Kubelet is initializing");
  };
  return grpcService(PodsDefinition, {
    listPods: () => {
      check();
      return { pods: listedPods(queries.pods()).map(encodePod) };
    },
    getPod: ({ podUID }) => {
      check();
      const [pod] = listedPods(queries.pods().filter(({ metadata }) => metadata.uid === podUID));
      if (pod === undefined) throw new RpcFault(status.NOT_FOUND, `pod with UID ${podUID} not found`);
      return { pod: encodePod(pod) };
    },
    watchPods: (_, sink) => {
      check();
      return joinWatch(sink);
    },
  });
}
