/**
 * Admission of the writes of a node: its own node, lease and CSINode, its own mirror pods, the status of its pods and of
 * their claims, and certificate requests of its pods; tokenRestriction.ts has the rules of tokens. Upstream:
 * plugin/pkg/admission/noderestriction.
 */
import type { V1beta1PodCertificateRequest, V1Node, V1Pod } from "@kubernetes/client-node";
import type { ApiResourceName } from "../../core/api/apiResources.ts";
import type { Wire } from "../../core/api.ts";
import { sameValue } from "../../core/sameValue.ts";
import type { ObjectRef } from "../../ports/apiServer.ts";
import type { ApiWorld } from "./apiWorld.ts";
import type { ApiIdentity } from "./identity.ts";
import { type PodReferences, podReferences } from "./readableObjects.ts";
import { MIRROR_ANNOTATION } from "./podStrategy.ts";
import type { Subresource } from "./strategy.ts";
import { fieldAt, keyOf, type StoredObject } from "../../core/apiObjects/storedObject.ts";

/** A write to admit. */
export interface AdmittedWrite {
  readonly resource: ApiResourceName;
  readonly object: StoredObject;
  /** The stored object; undefined for a create. */
  readonly old: StoredObject | undefined;
  readonly subresource: Subresource;
}

const LEASE_NAMESPACE = "kube-node-lease";

/** Returns why this write is forbidden; undefined if it is admitted. */
export function admitWrite(world: ApiWorld, identity: ApiIdentity, write: AdmittedWrite): string | undefined {
  if (identity.kind !== "node") return undefined;
  const { nodeName } = identity;
  const { metadata } = write.object;
  switch (write.resource) {
    case "pods":
      return write.old === undefined
        ? admitPodCreate(world, nodeName, write.object)
        : admitPodStatus(nodeName, write.object, write.old);
    case "nodes":
      return admitNode(nodeName, write);
    case "leases":
      if (metadata.namespace !== LEASE_NAMESPACE) {
        return `can only access leases in the "${LEASE_NAMESPACE}" system namespace`;
      }
      return metadata.name === nodeName
        ? undefined
        : "can only access node lease with the same name as the requesting node";
    case "csinodes":
      return metadata.name === nodeName
        ? undefined
        : "can only access CSINode with the same name as the requesting node";
    case "persistentvolumeclaims":
      return admitClaimStatus(nodeName, write);
    case "podcertificaterequests":
      return write.old === undefined ? admitCertificateRequest(world, nodeName, write.object) : undefined;
    default:
      return undefined;
  }
}

/** A node requests certificates only for the pods it runs. */
function admitCertificateRequest(world: ApiWorld, nodeName: string, object: StoredObject): string | undefined {
  const { spec } = object as unknown as Wire<V1beta1PodCertificateRequest>;
  if (spec.nodeName !== nodeName) return "PodCertificateRequest.Spec.NodeName must be the requesting node";
  const { namespace = "" } = object.metadata;
  const pod = world.store.get("pods", keyOf({ namespace, name: spec.podName }));
  if (pod === undefined || pod.metadata.uid !== spec.podUID) return `pod ${spec.podName} of that uid does not exist`;
  if (fieldAt(pod, "spec.nodeName") !== nodeName) return `pod ${spec.podName} does not run on this node`;
  const isAccount = fieldAt(pod, "spec.serviceAccountName") === spec.serviceAccountName;
  return isAccount ? undefined : `pod ${spec.podName} has another service account`;
}

/** References that no mirror pod may have. The ServiceAccount admission, which comes first, words these messages. */
const MIRROR_IDENTITY = [
  ["serviceaccounts", "service accounts"],
  ["secrets", "secrets"],
] as const satisfies readonly (readonly [keyof PodReferences, string])[];
/** Further references that no mirror pod may have, in the order of the checks. */
const MIRROR_REFERENCES = [
  ["configmaps", "configmaps"],
  ["clustertrustbundles", "clustertrustbundles"],
  ["persistentvolumeclaims", "persistentvolumeclaims"],
] as const satisfies readonly (readonly [keyof PodReferences, string])[];

function admitPodCreate(world: ApiWorld, nodeName: string, object: StoredObject): string | undefined {
  const { metadata, spec } = object as unknown as Wire<V1Pod>;
  const node = `node "${nodeName}"`;
  const references = podReferences(object);
  if (metadata?.annotations?.[MIRROR_ANNOTATION] === undefined) {
    return `pod does not have "${MIRROR_ANNOTATION}" annotation, ${node} can only create mirror pods`;
  }
  const [, identity] = MIRROR_IDENTITY.find(([kind]) => references[kind].size > 0) ?? [];
  if (identity !== undefined) return `a mirror pod may not reference ${identity}`;
  if (spec?.nodeName !== nodeName) return `${node} can only create pods with spec.nodeName set to itself`;
  const [owner, ...others] = metadata.ownerReferences ?? [];
  if (others.length > 0) return `${node} can only create pods with a single owner reference set to itself`;
  const isOwn = owner?.kind === "Node" && owner.apiVersion === "v1" && owner.name === nodeName;
  if (!isOwn) return `${node} can only create pods with an owner reference set to itself`;
  if (owner.controller !== true) {
    return `${node} can only create pods with a controller owner reference set to itself`;
  }
  if (owner.blockOwnerDeletion === true) return `${node} must not set blockOwnerDeletion on an owner reference`;
  const found = world.store.get("nodes", nodeName)?.metadata.uid;
  if (found === undefined) return `error looking up node ${nodeName} to verify uid: not found`;
  if (owner.uid !== found) return `node ${nodeName} UID mismatch: expected ${owner.uid} got ${found}`;
  const [, named] = MIRROR_REFERENCES.find(([kind]) => references[kind].size > 0) ?? [];
  return named === undefined ? undefined : `${node} can not create pods that reference ${named}`;
}

function admitPodStatus(nodeName: string, object: StoredObject, old: StoredObject): string | undefined {
  if (fieldAt(old, "spec.nodeName") !== nodeName) {
    return `node "${nodeName}" can only update pod status for pods with spec.nodeName set to itself`;
  }
  if (!sameValue(object.metadata.labels ?? {}, old.metadata.labels ?? {})) {
    return `node "${nodeName}" cannot update labels through pod status`;
  }
  const claims = (pod: StoredObject) => fieldAt(pod, "status.resourceClaimStatuses") ?? [];
  return sameValue(claims(object), claims(old)) ? undefined : `node "${nodeName}" cannot update resource claim statues`;
}

/** Fields of the status of a claim that a node may change. */
const NODE_CLAIM_FIELDS: readonly string[] = [
  "capacity",
  "conditions",
  "allocatedResources",
  "allocatedResourceStatuses",
];

function admitClaimStatus(nodeName: string, { object, old, subresource }: AdmittedWrite): string | undefined {
  if (subresource !== "status" || old === undefined) return "may only update PVC status";
  return sameValue(withoutNodeFields(object), withoutNodeFields(old))
    ? undefined
    : `node "${nodeName}" is not allowed to update fields other than status.capacity and status.conditions`;
}

function withoutNodeFields({ metadata, ...claim }: StoredObject): unknown {
  const { resourceVersion: _version, managedFields: _fields, ...kept } = metadata;
  const status = Object.entries(claim["status"] ?? {}).filter(([field]) => !NODE_CLAIM_FIELDS.includes(field));
  return { ...claim, metadata: kept, status: Object.fromEntries(status) };
}

/** Labels under kubernetes.io and k8s.io that a kubelet may set. */
const KUBELET_LABELS: readonly string[] = [
  "beta.kubernetes.io/arch",
  "beta.kubernetes.io/instance-type",
  "beta.kubernetes.io/os",
  "failure-domain.beta.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "kubernetes.io/arch",
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "node.kubernetes.io/instance-type",
  "topology.kubernetes.io/region",
  "topology.kubernetes.io/zone",
];
const KUBELET_PREFIX = /^([^/]+\.)?(kubelet|node)\.kubernetes\.io\//;
const RESTRICTED_PREFIX = /^([^/]+\.)?node-restriction\.kubernetes\.io\//;
const KUBERNETES_PREFIX = /^([^/]+\.)?(kubernetes|k8s)\.io\//;

const isForbiddenLabel = (key: string): boolean =>
  RESTRICTED_PREFIX.test(key) ||
  (KUBERNETES_PREFIX.test(key) && !KUBELET_LABELS.includes(key) && !KUBELET_PREFIX.test(key));

function admitNode(nodeName: string, { object, old }: AdmittedWrite): string | undefined {
  const { metadata, spec } = object as unknown as Wire<V1Node>;
  if (metadata?.name !== nodeName) return `node "${nodeName}" is not allowed to modify node "${metadata?.name}"`;
  const before = old?.metadata.labels ?? {};
  const after = metadata.labels ?? {};
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => before[key] !== after[key],
  );
  const bad = changed.filter(isForbiddenLabel).sort();
  if (old === undefined) {
    return bad.length === 0
      ? undefined
      : `node "${nodeName}" is not allowed to set the following labels: ${bad.join(", ")}`;
  }
  if (spec?.configSource !== undefined && !sameValue(spec.configSource, fieldAt(old, "spec.configSource"))) {
    return `node "${nodeName}" is not allowed to update configSource to a new non-nil configSource`;
  }
  if (!sameValue(spec?.taints ?? [], fieldAt(old, "spec.taints") ?? [])) {
    return `node "${nodeName}" is not allowed to modify taints`;
  }
  if (!sameValue(metadata.ownerReferences ?? [], old.metadata.ownerReferences ?? [])) {
    return `node "${nodeName}" is not allowed to modify ownerReferences`;
  }
  return bad.length === 0 ? undefined : `is not allowed to modify labels: ${bad.join(", ")}`;
}

/** Returns why a node may not delete or evict this pod. */
export function admitPodRemoval(
  world: ApiWorld,
  identity: ApiIdentity,
  ref: ObjectRef,
  verb: "delete" | "evict",
): string | undefined {
  if (identity.kind !== "node") return undefined;
  const pod = world.store.get("pods", keyOf(ref));
  if (pod === undefined || fieldAt(pod, "spec.nodeName") === identity.nodeName) return undefined;
  const node = verb === "evict" ? `node ${identity.nodeName}` : `node "${identity.nodeName}"`;
  return `${node} can only ${verb} pods with spec.nodeName set to itself`;
}
