/** Tenants of a node: pods that take all resources of pods deleted by force, as a scheduler binds them at once. */
import type { SimApiServer } from "../apiServer/simApiServer.ts";
import type { Prng } from "../prng.ts";
import type { SimNode } from "../simNode.ts";
import { isDeleting, type OwnedApiPods } from "./ownedApiPods.ts";
import type { SimPodPlan } from "./workload.ts";
import { drawTenants, freeResources, isTenant, type SimTenancy, tenantName } from "./workloadTenants.ts";

const LONGEST_TENANCY_MS = 10 * 60_000;

/**
 * Returns the action: deletes former tenants and perhaps another pod by force, and binds new tenants to the free
 * resources. The action returns false if there is no pod to delete.
 */
export function createTenancies(
  node: SimNode,
  server: SimApiServer,
  { made, pick, create, removeForGood }: OwnedApiPods,
) {
  const { nodeName, allocatable } = node.config;
  let tenants = 0;
  const move = (tenancy: SimTenancy, prng: Prng): void => {
    tenants += 1;
    const plan: SimPodPlan = {
      name: tenantName(tenants),
      kind: prng.pick(["steady", "leaving", "deaf"]),
      source: "api",
      graceSeconds: prng.pick([0, 5, 30]),
      image: "registry.example/app-1:1",
      tenancy,
      steps: [],
    };
    create(plan, 0);
    // The tenancy ends, because it leaves no resources to other pods.
    node.scheduler.schedule(
      () => {
        const known = made.get(plan.name);
        if (known !== undefined) removeForGood(known, 0);
      },
      prng.int(5_000, LONGEST_TENANCY_MS),
    );
  };
  return (prng: Prng): boolean => {
    const before = [...made.values()].filter(({ plan }) => isTenant(plan.name) && prng.chance(0.8));
    const other = before.length === 0 || prng.chance(0.5) ? pick(prng) : undefined;
    const leaving = new Set(other === undefined ? before : [...before, other]);
    if (leaving.size === 0) return false;
    for (const known of leaving) removeForGood(known, prng.chance(0.7) ? 0 : prng.int(1, 30));
    const staying = server.objects("pods").filter((pod) => pod.spec?.nodeName === nodeName && !isDeleting(pod));
    const pods = staying.map(({ spec = { containers: [] }, status }) => ({ spec, status }));
    for (const tenancy of drawTenants(prng, freeResources(allocatable, pods))) move(tenancy, prng);
    return true;
  };
}
