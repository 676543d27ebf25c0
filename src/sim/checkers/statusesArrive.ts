/** Pod statuses that have not reached the API server: none once the server has the kubelet's status of every pod. */
import type { ApiPod } from "../../core/api/apiPodObjects.ts";
import type { ApiContainerStatus, Pod, PodStatus } from "../../core/api.ts";
import { podContainerStatuses } from "../../core/pod/containers.ts";
import { isStaticPod } from "../../core/pod/criticalPod.ts";
import type { SimNode } from "../simNode.ts";

const MIRROR = "kubernetes.io/config.mirror";

/** Lists one sentence per pod whose status differs on the server, or whose mirror pod is missing. */
export function openStatuses({ api, kubelet, pods }: SimNode): readonly string[] {
  if (api === undefined || kubelet === undefined) return [];
  return pods().flatMap((pod) => {
    const { namespace, name } = pod.metadata;
    const problem = problemOf(pod, api.object("pods", { namespace, name }));
    return problem === undefined ? [] : [`${namespace}/${name} ${problem}`];
  });
}

function problemOf(pod: Pod, object: ApiPod | undefined): string | undefined {
  const isStatic = isStaticPod(pod);
  // A rejected static pod gets no mirror pod.
  if (isStatic && pod.status?.containerStatuses === undefined) return undefined;
  if (object === undefined) return isStatic ? "has no mirror" : undefined;
  const uid = isStatic ? object.metadata?.annotations?.[MIRROR] : object.metadata?.uid;
  if (uid !== pod.metadata.uid) return `has an object of pod ${uid}`;
  const [reported, known] = [pod.status, object.status].map((status) => textOf(status ?? {}));
  return reported === known ? undefined : `has status ${reported} in the kubelet and ${known} on the API server`;
}

function textOf(status: PodStatus) {
  const { phase, reason, conditions = [] } = status;
  const isReady = conditions.some((condition) => condition.type === "Ready" && condition.status === "True");
  const containers = podContainerStatuses(status).map(containerText);
  return [phase, reason ?? "-", isReady ? "ready" : "not ready", ...containers].join(" ");
}

function containerText({ name, containerID, ready, restartCount, state }: ApiContainerStatus): string {
  const [is = "?"] = Object.keys(state ?? {});
  return `${name}=${is}${ready ? "+" : ""}#${restartCount}@${containerID ?? ""}`;
}
