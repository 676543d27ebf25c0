/**
 * The CSINode of a node without CSI drivers. Every node of a cluster has one, since the scheduler and controllers read
 * it.
 * Upstream: pkg/volume/csi/nodeinfomanager.
 */
import type { ApiObjects } from "../api/apiResources.ts";
import { sameItems } from "../sameValue.ts";

export type CsiNode = ApiObjects["csinodes"];

const MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins";
/** In-tree plugins migrated to CSI drivers in this version. */
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

/** Returns the next request; `existing` is undefined when there is no CSINode. Drivers that others added are kept. */
export function csiNodeStep(existing: CsiNode | undefined, nodeName: string, nodeUid: string): CsiNodeStep {
  if (existing === undefined) return { kind: "create", object: newCsiNode(nodeName, nodeUid) };
  const { annotations = {}, ownerReferences = [], uid = "" } = existing.metadata ?? {};
  const isOwn = ownerReferences.some(
    (owner) => owner.kind === "Node" && owner.name === nodeName && owner.uid === nodeUid,
  );
  if (!isOwn) return { kind: "delete", uid };
  const reported = [...new Set((annotations[MIGRATED_PLUGINS] ?? "").split(","))].sort();
  if (sameItems(reported, MIGRATED)) return { kind: "none" };
  const metadata = { ...existing.metadata, annotations: { ...annotations, [MIGRATED_PLUGINS]: MIGRATED.join(",") } };
  return { kind: "update", object: { ...existing, metadata } };
}

const newCsiNode = (name: string, uid: string): CsiNode => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "CSINode",
  metadata: {
    name,
    annotations: { [MIGRATED_PLUGINS]: MIGRATED.join(",") },
    ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }],
  },
  spec: { drivers: [] },
});
