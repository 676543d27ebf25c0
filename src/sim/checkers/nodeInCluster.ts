/** What a node still owes to its cluster: empty once its Node says Ready and it holds its lease. */
import type { SimApiServer } from "../apiServer/simApiServer.ts";
import type { SimNode } from "../simNode.ts";

/** One sentence per thing that is not so. */
export function openDuties({ config: { nodeName } }: SimNode, server: SimApiServer): readonly string[] {
  const node = server.object("nodes", { name: nodeName });
  const ready = node?.status?.conditions?.find(({ type }) => type === "Ready");
  const lease = server.object("leases", { namespace: "kube-node-lease", name: nodeName });
  const isHeld = lease?.metadata?.ownerReferences?.some(({ uid }) => uid === node?.metadata?.uid) === true;
  return [
    ...(ready?.status === "True"
      ? []
      : [`node ${nodeName} is not Ready: ${ready?.message ?? "nothing is said of it"}`]),
    ...(isHeld ? [] : [`node ${nodeName} has no lease that goes with it`]),
  ];
}
