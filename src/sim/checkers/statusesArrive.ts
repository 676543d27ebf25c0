/** What the API server does not know of a node's pods yet: empty once it has what the kubelet says of each. */
import type { ApiPod } from "../../core/api/apiPodObjects.ts";
import type { ApiContainerStatus, Pod, PodStatus } from "../../core/api.ts";
import { isStaticPod } from "../../core/pod/criticalPod.ts";
import type { SimNode } from "../simNode.ts";

const MIRROR = "kubernetes.io/config.mirror";

/** One sentence per pod of which the server says something else, or has no picture. */
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
  // One that was refused never comes to the server.
  if (isStatic && pod.status?.containerStatuses === undefined) return undefined;
  if (object === undefined) return isStatic ? "has no mirror" : undefined;
  const uid = isStatic ? object.metadata?.annotations?.[MIRROR] : object.metadata?.uid;
  if (uid !== pod.metadata.uid) return `has an object of pod ${uid}`;
  const [told, known] = [pod.status, object.status].map((status) => textOf(status ?? {}));
  return told === known ? undefined : `is told as ${told}, and known as ${known}`;
}

function textOf({ phase, reason, conditions = [], containerStatuses = [], initContainerStatuses = [] }: PodStatus) {
  const isReady = conditions.some(({ type, status }) => type === "Ready" && status === "True");
  const containers = [...initContainerStatuses, ...containerStatuses].map(containerText);
  return [phase, reason ?? "-", isReady ? "ready" : "not ready", ...containers].join(" ");
}

function containerText({ name, containerID, ready, restartCount, state }: ApiContainerStatus): string {
  const [is = "?"] = Object.keys(state ?? {});
  return `${name}=${is}${ready ? "+" : ""}#${restartCount}@${containerID ?? ""}`;
}
