/**
 * The CSINode of a node, with its CSI drivers. Every node of a cluster has one, since the scheduler and controllers read
 * it.
 * Upstream: pkg/volume/csi/nodeinfomanager.
 */
import type { ApiObjects } from "../api/apiResources.ts";
import type { CsiDriverFacts, CsiDrivers } from "../csi/csiDriverFacts.ts";
import { sameItems, sameValue } from "../sameValue.ts";

export type CsiNode = ApiObjects["csinodes"];

const MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins";
/** Plugins of the kubelet that CSI drivers replace in this version. */
const MIGRATED: readonly string[] = [
  "kubernetes.io/aws-ebs",
  "kubernetes.io/azure-disk",
  "kubernetes.io/azure-file",
  "kubernetes.io/cinder",
  "kubernetes.io/gce-pd",
  "kubernetes.io/portworx-volume",
  "kubernetes.io/vsphere-volume",
];

/** The next request for the CSINode. */
export type CsiNodeStep =
  | { readonly kind: "none" }
  | { readonly kind: "create" | "update"; readonly object: CsiNode }
  /** Belongs to an earlier Node of this name and is replaced. */
  | { readonly kind: "delete"; readonly uid: string };

/** The drivers that this kubelet knows. */
export interface KnownCsiDrivers {
  readonly registered: CsiDrivers;
  /** Names of drivers that were registered with this kubelet, and are no longer. */
  readonly gone: ReadonlySet<string>;
}

/**
 * Returns the next request; `existing` is undefined when there is no CSINode. Drivers that this kubelet does not know are
 * kept: after a restart, they are about to register again.
 */
export function csiNodeStep(
  existing: CsiNode | undefined,
  {
    nodeName,
    nodeUid,
    drivers,
  }: { readonly nodeName: string; readonly nodeUid: string; readonly drivers: KnownCsiDrivers },
): CsiNodeStep {
  if (existing === undefined) return { kind: "create", object: newCsiNode(nodeName, nodeUid, drivers) };
  const { annotations = {}, ownerReferences = [], uid = "" } = existing.metadata ?? {};
  const isOwn = ownerReferences.some(
    (owner) => owner.kind === "Node" && owner.name === nodeName && owner.uid === nodeUid,
  );
  if (!isOwn) return { kind: "delete", uid };
  const listed = driversOf(existing.spec);
  const wanted = withDrivers(listed, drivers);
  const reported = [...new Set((annotations[MIGRATED_PLUGINS] ?? "").split(","))].sort();
  if (sameItems(reported, MIGRATED) && wanted === listed) return { kind: "none" };
  const metadata = { ...existing.metadata, annotations: { ...annotations, [MIGRATED_PLUGINS]: MIGRATED.join(",") } };
  return { kind: "update", object: { ...existing, metadata, spec: { ...existing.spec, drivers: wanted } } };
}

type ListedDriver = CsiNode["spec"]["drivers"][number];

/** A server sends null for no drivers. */
const driversOf = ({ drivers }: { readonly drivers: readonly ListedDriver[] | null }): readonly ListedDriver[] =>
  drivers ?? [];

/** Returns the same list if nothing changes; a changed driver moves to the end, as upstream. */
function withDrivers(listed: readonly ListedDriver[], { registered, gone }: KnownCsiDrivers): readonly ListedDriver[] {
  const left = listed.filter((driver) => {
    const known = registered.get(driver.name);
    return known === undefined ? !gone.has(driver.name) : isSame(driver, known);
  });
  const names = new Set(left.map(({ name }) => name));
  const added = [...registered.values()].filter(({ name }) => !names.has(name)).map(listedDriver);
  return left.length === listed.length && added.length === 0 ? listed : [...left, ...added];
}

const isSame = (listed: ListedDriver, known: CsiDriverFacts): boolean =>
  listed.nodeID === known.nodeId &&
  sameItems([...(listed.topologyKeys ?? [])].sort(), topologyKeys(known)) &&
  sameValue(listed.allocatable?.count, known.maxVolumes);

const topologyKeys = ({ topology }: CsiDriverFacts): readonly string[] => Object.keys(topology).sort();

function listedDriver(facts: CsiDriverFacts): ListedDriver {
  const { name, nodeId, maxVolumes } = facts;
  return {
    name,
    nodeID: nodeId,
    topologyKeys: topologyKeys(facts),
    ...(maxVolumes === undefined ? {} : { allocatable: { count: maxVolumes } }),
  };
}

const newCsiNode = (name: string, uid: string, drivers: KnownCsiDrivers): CsiNode => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "CSINode",
  metadata: {
    name,
    annotations: { [MIGRATED_PLUGINS]: MIGRATED.join(",") },
    ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }],
  },
  spec: { drivers: withDrivers([], drivers) },
});
