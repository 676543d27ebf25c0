/** Conditions of a healthy cluster member: the Node is Ready and owns its lease. */
import type { SimApiServer } from "../apiServer/simApiServer.ts";
import type { SimNode } from "../simNode.ts";

/** Lists one sentence per condition that does not hold. */
export function openDuties({ config: { nodeName } }: SimNode, server: SimApiServer): readonly string[] {
  const node = server.object("nodes", { name: nodeName });
  const ready = node?.status?.conditions?.find(({ type }) => type === "Ready");
  const lease = server.object("leases", { namespace: "kube-node-lease", name: nodeName });
  const isHeld = lease?.metadata?.ownerReferences?.some(({ uid }) => uid === node?.metadata?.uid) === true;
  return [
    ...(ready?.status === "True"
      ? []
      : [`node ${nodeName} is not Ready: ${ready?.message ?? "it has no Ready condition"}`]),
    ...(isHeld ? [] : [`node ${nodeName} has no lease owned by its Node`]),
  ];
}
