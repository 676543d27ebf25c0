/** Owners of the ConfigMap and Secret of each pod: write both at once, numbered over all writes, and delete them. */
import type { SimApiServer } from "../apiServer/simApiServer.ts";
import type { SimNode } from "../simNode.ts";
import { refOf } from "./ownedApiPods.ts";
import { SIM_NAMESPACE, type SimPodPlan } from "./workload.ts";
import { configNameOf, configObjects } from "./workloadConfig.ts";

/** Creates the owners; `heal` writes again all that was deleted. */
export function createConfigOwners(node: SimNode, server: SimApiServer) {
  const away = new Map<string, SimPodPlan>();
  let revisions = 0;
  const nameFor = ({ name, configuring }: SimPodPlan): string =>
    configuring === undefined ? "" : configNameOf(configuring, name);
  const configure = (plan: SimPodPlan): void => {
    revisions += 1;
    const name = nameFor(plan);
    node.note(`write config ${name}, writing ${revisions}`);
    away.delete(name);
    const { configMap, secret } = configObjects(SIM_NAMESPACE, name, revisions);
    server.put("configmaps", configMap);
    server.put("secrets", secret);
  };
  return {
    configure,
    unconfigure(plan: SimPodPlan): void {
      const name = nameFor(plan);
      if (server.object("configmaps", refOf(name)) === undefined) return;
      node.note(`delete config ${name}`);
      away.set(name, plan);
      server.delete("configmaps", refOf(name));
      server.delete("secrets", refOf(name));
    },
    heal: () => [...away.values()].forEach(configure),
  };
}
