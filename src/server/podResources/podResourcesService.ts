/** Handlers of the pod resources API, v1 and v1alpha1, with upstream's metrics and errors. */
import { status } from "@grpc/grpc-js";
import { inV1Alpha1 } from "../../core/podResources/podResources.ts";
import type { MetricName } from "../../core/telemetry/metricTable.ts";
import { PodResourcesListerDefinition, PodResourcesListerV1Alpha1Definition } from "../../gen/podResources.ts";
import { grpcService } from "../../grpcServer/grpcService.ts";
import { RpcFault } from "../../grpcServer/rpcFault.ts";
import type { KubeletQueries } from "../../ports/kubeletQueries.ts";
import type { Metrics } from "../../ports/telemetry.ts";

/** The state that the handlers read. */
export type PodResourcesQueries = Pick<
  KubeletQueries,
  "areHoldersKnown" | "podResources" | "podResourcesOf" | "allocatableResources"
>;

const LIST = {
  requests: "kubelet_pod_resources_endpoint_requests_list",
  errors: "kubelet_pod_resources_endpoint_errors_list",
} as const;
const GET_ALLOCATABLE = {
  requests: "kubelet_pod_resources_endpoint_requests_get_allocatable",
  errors: "kubelet_pod_resources_endpoint_errors_get_allocatable",
} as const;
const GET = {
  requests: "kubelet_pod_resources_endpoint_requests_get",
  errors: "kubelet_pod_resources_endpoint_errors_get",
} as const;

/** Returns both services. `mayServe` refuses requests beyond the limit. */
export function podResourcesServices(queries: PodResourcesQueries, metrics: Metrics, mayServe: () => boolean) {
  const counted =
    <Request, Response>(
      version: string,
      counters: { readonly requests: MetricName; readonly errors: MetricName } | undefined,
      serve: (request: Request) => Response,
    ) =>
    (request: Request): Response => {
      if (!mayServe()) throw new RpcFault(status.RESOURCE_EXHAUSTED, "rejected by rate limit");
      const labels = { server_api_version: version };
      metrics.count("kubelet_pod_resources_endpoint_requests_total", labels);
      if (counters === undefined) return serve(request);
      metrics.count(counters.requests, labels);
      try {
        return serve(request);
      } catch (thrown) {
        metrics.count(counters.errors, labels);
        throw thrown;
      }
    };
  // An agent would take a pod that is not known yet for one that has ended, and its devices for free ones.
  const known =
    <Request, Response>(serve: (request: Request) => Response) =>
    (request: Request): Response => {
      if (queries.areHoldersKnown()) return serve(request);
      throw new RpcFault(status.UNAVAILABLE, "the kubelet does not know the pods of all its sources yet");
    };
  return [
    grpcService(PodResourcesListerDefinition, {
      list: counted("v1", LIST, known(queries.podResources)),
      getAllocatableResources: counted("v1", GET_ALLOCATABLE, queries.allocatableResources),
      get: counted(
        "v1",
        GET,
        known(({ podName, podNamespace }) => {
          const podResources = queries.podResourcesOf(podNamespace, podName);
          if (podResources !== undefined) return { podResources };
          throw new RpcFault(status.UNKNOWN, `pod ${podName} in namespace ${podNamespace} not found`);
        }),
      ),
    }),
    grpcService(PodResourcesListerV1Alpha1Definition, {
      list: counted(
        "v1alpha1",
        undefined,
        known(() => inV1Alpha1(queries.podResources())),
      ),
    }),
  ];
}
