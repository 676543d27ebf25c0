/**
 * The controller and the scheduler of ResourceClaims: they make the claims of pods, allocate and reserve them, some before the
 * kubelet sees the pod and some later, and take them back when a pod has ended. Own nothing but the API server's objects.
 * Bound: one pending action per start and end of a pod.
 */
import type { ApiObjects } from "../../core/api/apiResources.ts";
import type { ApiPod } from "../../core/api/apiPodObjects.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import { typed } from "../../core/apiObjects/storedObject.ts";
import type { SimApiServer } from "../apiServer/simApiServer.ts";
import { SIM_DRIVERS } from "../hardware/simDrivers.ts";
import { createPrng } from "../prng.ts";
import type { SimNode } from "../simNode.ts";
import { refOf } from "./ownedApiPods.ts";
import { SIM_NAMESPACE } from "./workload.ts";
import { SHARED_CLAIM } from "./workloadDevices.ts";

type Claim = ApiObjects["resourceclaims"];
type ClaimEntry = NonNullable<NonNullable<ApiPod["spec"]>["resourceClaims"]>[number];

const LATEST_MS = 5_000;

/** Starts them; they see all pods from now on. */
export function startClaimOwners(node: SimNode, server: SimApiServer): void {
  const later = (ms: number, action: () => void): void => void node.scheduler.schedule(action, ms);
  const ended = new Set<string>();
  const reserve = (name: string, uid: string): void => {
    const pod = server.object("pods", refOf(name));
    if (pod?.metadata?.uid !== uid || ended.has(uid)) return;
    const made = (pod.spec?.resourceClaims ?? []).flatMap((entry) => {
      const claimName = claimNameOf(entry, pod);
      reserveClaim(server, claimName, { name, uid }, entry.resourceClaimName === undefined);
      return entry.resourceClaimName === undefined ? [{ name: entry.name, resourceClaimName: claimName }] : [];
    });
    if (made.length === 0) return;
    const { status } = server.object("pods", refOf(name)) ?? {};
    server.setStatus(refOf(name), { ...status, resourceClaimStatuses: made });
  };
  const release = (uid: string): void => {
    for (const claim of server.objects("resourceclaims")) releaseClaim(server, claim, uid);
  };
  server.changes$.subscribe({
    next({ resource, type, object }) {
      if (resource !== "pods" || object.metadata.namespace !== SIM_NAMESPACE) return;
      const { metadata, spec, status } = typed<"pods">(object);
      const { name = "", uid = "" } = metadata ?? {};
      if ((spec?.resourceClaims ?? []).length === 0) return;
      const prng = createPrng(`claims of ${uid}`);
      if (type === "ADDED") later(prng.chance(0.5) ? 0 : prng.int(1, LATEST_MS), () => reserve(name, uid));
      if ((type !== "DELETED" && !isTerminalPhase(status?.phase)) || ended.has(uid)) return;
      ended.add(uid);
      later(prng.fork("end").int(0, LATEST_MS), () => release(uid));
    },
  });
}

const claimNameOf = ({ name, resourceClaimName }: ClaimEntry, { metadata }: ApiPod): string =>
  resourceClaimName ?? `${metadata?.name}-${name}-${metadata?.uid?.slice(0, 5)}`;

function reserveClaim(
  server: SimApiServer,
  name: string,
  pod: { readonly name: string; readonly uid: string },
  isOwned: boolean,
): void {
  const ownerReferences = [{ apiVersion: "v1", kind: "Pod", ...pod, controller: true }];
  const claim =
    server.object("resourceclaims", refOf(name)) ??
    server.put("resourceclaims", { metadata: { ...refOf(name), ...(isOwned ? { ownerReferences } : {}) }, spec: {} });
  const { gpu, net } = { gpu: SIM_DRIVERS[0], net: SIM_DRIVERS[1] };
  const drivers = createPrng(`drivers of ${claim.metadata?.uid}`).pick([[gpu], [net], [gpu, net]]);
  const results = drivers.map((driver) => ({ driver, pool: "pool", device: name, request: "r" }));
  const allocation = claim.status?.allocation ?? { devices: { results } };
  const reservedFor = [...(claim.status?.reservedFor ?? []), { resource: "pods", ...pod }];
  server.setStatusOf("resourceclaims", refOf(name), { allocation, reservedFor });
}

/** A claim without users is deleted, but for the one that several pods share. */
function releaseClaim(server: SimApiServer, { metadata, status }: Claim, uid: string): void {
  const { name = "" } = metadata ?? {};
  const users = status?.reservedFor ?? [];
  const left = users.filter((user) => user.uid !== uid);
  if (left.length === users.length) return;
  if (left.length === 0 && name !== SHARED_CLAIM) server.delete("resourceclaims", refOf(name));
  else server.setStatusOf("resourceclaims", refOf(name), { ...status, reservedFor: left });
}
