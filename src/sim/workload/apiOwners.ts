/** The users and controllers who own the API pods of a workload: they act on the pods and their configuration. */
import { invariant } from "../../core/invariant.ts";
import type { SimApiServer } from "../apiServer/simApiServer.ts";
import type { Prng } from "../prng.ts";
import type { SimNode } from "../simNode.ts";
import { createConfigOwners } from "./configOwners.ts";
import { createOwnedApiPods, isDeleting, refOf } from "./ownedApiPods.ts";
import { createTenancies } from "./tenancies.ts";
import { SIM_NAMESPACE, type SimPodPlan, type SimPodStep, type WantedPod } from "./workload.ts";
import { SIM_ACCOUNT } from "./workloadVolumes.ts";

/** Creates the owners of pods on a node and its server. */
export function createApiOwners(node: SimNode, server: SimApiServer) {
  let notes = 0;
  if (server.object("namespaces", { name: SIM_NAMESPACE }) === undefined) {
    server.put("namespaces", { metadata: { name: SIM_NAMESPACE } });
    server.put("serviceaccounts", { metadata: refOf(SIM_ACCOUNT) });
  }
  const pods = createOwnedApiPods(node, server);
  const { made, podOf, create, edit, resize, remove, pick, removeForGood } = pods;
  const config = createConfigOwners(node, server);
  const takeResources = createTenancies(node, server, pods);
  return {
    take(plan: SimPodPlan, step: SimPodStep): void {
      const known = made.get(plan.name);
      switch (step.kind) {
        case "add":
        case "edit":
          if (known === undefined) create(plan, step.revision);
          else if (isDeleting(podOf(plan.name))) made.set(plan.name, { ...known, successor: step.revision });
          else edit(known, step.revision);
          break;
        case "resize":
          if (known !== undefined) resize(known, step);
          break;
        case "configure":
        case "unconfigure":
          config[step.kind](plan);
          break;
        case "delete":
          if (known === undefined) break;
          remove(plan.name, step.graceSeconds);
          break;
        case "forceDelete":
          if (known !== undefined) removeForGood(known, 0);
          break;
      }
    },
    replace(prng: Prng): boolean {
      const known = pick(prng);
      if (known === undefined) return false;
      made.set(known.plan.name, { ...known, successor: known.revision });
      remove(known.plan.name, 0);
      return true;
    },
    takeResources,
    annotate(prng: Prng): boolean {
      const known = pick(prng);
      if (known === undefined) return false;
      notes += 1;
      const annotations = { "demo/writer": String(notes) };
      server.put("pods", { metadata: { ...refOf(known.plan.name), annotations } });
      return true;
    },
    heal: () => config.heal(),
    leave(): void {
      for (const [name, known] of [...made]) {
        made.set(name, { ...known, successor: undefined });
        remove(name, 0);
      }
    },
    wanted: (): readonly WantedPod[] =>
      [...made.values()].flatMap(({ plan }) => {
        const pod = podOf(plan.name);
        invariant(pod !== undefined, `pod ${plan.name} is gone and its owner does not know`);
        return isDeleting(pod) ? [] : [{ plan, name: plan.name, uid: pod.metadata?.uid }];
      }),
  };
}
