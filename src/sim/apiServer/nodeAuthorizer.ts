/**
 * Authorizes the requests of a node: its own node, lease and pods, and single objects that one of its pods refers to.
 * Upstream: plugin/pkg/auth/authorizer/node. Differs from upstream: a pod or object that does not exist is not found
 * rather than forbidden, so that answers do not depend on the lag of the real authorizer's graph.
 */
import { API_RESOURCES, type ApiResourceName, type ApiSubresources } from "../../core/api/apiResources.ts";
import type { ApiSelection, ObjectRef } from "../../ports/apiServer.ts";
import type { ApiWorld } from "./apiWorld.ts";
import { type ApiIdentity, userName } from "./identity.ts";
import { type PodReferences, podReferences } from "./readableObjects.ts";
import { parseSelection } from "../../core/apiObjects/selectors.ts";
import { fieldAt, keyOf } from "../../core/apiObjects/storedObject.ts";
import type { Subresource } from "./strategy.ts";

export type ApiVerb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete";

/** Attributes of a request for authorization. */
export interface ApiAttributes {
  readonly verb: ApiVerb;
  readonly resource: ApiResourceName;
  readonly subresource: Subresource | "binding" | "eviction" | "token";
  /** Set for one object; its name is empty where the server generates it. */
  readonly ref: ObjectRef | undefined;
  /** Set for a list or watch. */
  readonly selection: ApiSelection | undefined;
}

/** Splits a combined name like `pods/binding`. */
export const partsOf = (subresource: keyof ApiSubresources) =>
  subresource.split("/") as ["pods" | "serviceaccounts", "binding" | "eviction" | "token"];

const READS: readonly ApiVerb[] = ["get", "list", "watch"];
/** Marks a request that no rule allows to nodes: the message has no reason to add. */
const NOBODY = "";
const NOT_ONE = "can only get individual resources of this type";
const LEASE_NAMESPACE = "kube-node-lease";

/** Returns why a node may not do this; undefined if it may. */
function refusal(world: ApiWorld, nodeName: string, attributes: ApiAttributes): string | undefined {
  const { verb, resource } = attributes;
  switch (resource) {
    case "secrets":
    case "configmaps":
    case "persistentvolumeclaims":
    case "resourceclaims":
    case "serviceaccounts":
      return referenced(world, nodeName, attributes, resource);
    case "pods":
      return ofPods(world, nodeName, attributes);
    case "nodes":
      return ofNodes(world, nodeName, attributes);
    case "leases":
    case "csinodes":
      if (verb === "list" || verb === "watch") return NOBODY;
      return ofOwnName(nodeName, attributes);
    case "services":
    case "runtimeclasses":
    case "csidrivers":
    case "clustertrustbundles":
      return READS.includes(verb) ? undefined : NOBODY;
    case "events":
      return ["create", "update", "patch"].includes(verb) ? undefined : NOBODY;
    case "certificatesigningrequests":
      return verb === "create" || READS.includes(verb) ? undefined : NOBODY;
    case "podcertificaterequests":
      return ofCertificateRequests(world, nodeName, attributes);
    case "resourceslices":
      return ofResourceSlices(world, nodeName, attributes);
    case "tokenreviews":
    case "subjectaccessreviews":
      return verb === "create" ? undefined : NOBODY;
    case "persistentvolumes":
      return verb === "get" ? undefined : NOT_ONE;
    case "volumeattachments":
      return ofAttachments(world, nodeName, attributes);
    case "namespaces":
      return NOBODY;
  }
}

function ofOwnName(nodeName: string, { verb, resource, ref }: ApiAttributes): string | undefined {
  if (resource === "leases" && ref?.namespace !== LEASE_NAMESPACE) {
    return `can only access leases in the "${LEASE_NAMESPACE}" system namespace`;
  }
  if (verb === "create" || ref?.name === nodeName) return undefined;
  return `can only access ${resource === "leases" ? "node lease" : "CSINode"} with the same name as the requesting node`;
}

function referenced(
  world: ApiWorld,
  nodeName: string,
  { verb, resource, subresource, ref, selection }: ApiAttributes,
  kind: keyof PodReferences,
): string | undefined {
  if (resource === "serviceaccounts" && subresource === "token") return undefined;
  const single = selection === undefined ? ref : singleObject(resource, selection);
  const isStatus = resource === "persistentvolumeclaims" && subresource === "status";
  const mayWatch = resource === "secrets" || resource === "configmaps";
  if (isStatus && verb !== "update" && verb !== "patch") return "can only get/update/patch this type";
  if (!isStatus && !mayWatch && verb !== "get") return NOT_ONE;
  if (!isStatus && !READS.includes(verb)) return "can only read resources of this type";
  if (single === undefined) return "No Object name found";
  const isReferenced = world
    .podsOn(nodeName)
    .some((pod) => pod.metadata.namespace === single.namespace && podReferences(pod)[kind].has(single.name));
  return isReferenced ? undefined : `no relationship found between node '${nodeName}' and this object`;
}

function singleObject(resource: ApiResourceName, selection: ApiSelection): ObjectRef | undefined {
  const name = parseSelection(resource, selection).required("metadata.name");
  const { namespace = "" } = selection;
  return name === undefined || namespace === "" ? undefined : { namespace, name };
}

function ofPods(world: ApiWorld, nodeName: string, { verb, subresource, ref, selection }: ApiAttributes) {
  if (subresource === "binding" || subresource === "resize" || subresource === "ephemeralcontainers") return NOBODY;
  if (selection !== undefined) {
    const wanted = parseSelection("pods", selection).required("spec.nodeName");
    return wanted === nodeName ? undefined : "can only list/watch pods with spec.nodeName field selector";
  }
  if (verb === "update" || verb === "patch") return subresource === "status" ? undefined : NOBODY;
  if (verb !== "get" || ref === undefined) return undefined;
  const pod = world.store.get("pods", keyOf(ref));
  return pod === undefined || fieldAt(pod, "spec.nodeName") === nodeName
    ? undefined
    : `no relationship found between node '${nodeName}' and this object`;
}

/** Certificate requests: NodeRestriction checks the node of a request, see nodeRestriction.ts. */
function ofCertificateRequests(world: ApiWorld, nodeName: string, { verb, ref, selection }: ApiAttributes) {
  if (verb === "create") return undefined;
  if (!READS.includes(verb)) return NOBODY;
  const wanted = selection && parseSelection("podcertificaterequests", selection).required("spec.nodeName");
  const found = ref && world.store.get("podcertificaterequests", keyOf(ref));
  if (selection === undefined && found === undefined) return undefined;
  const isOwn = selection === undefined ? fieldAt(found, "spec.nodeName") === nodeName : wanted === nodeName;
  return isOwn ? undefined : "can only read requests with spec.nodeName set to itself";
}

/** ResourceSlices of the node. */
function ofResourceSlices(world: ApiWorld, nodeName: string, { verb, ref, selection }: ApiAttributes) {
  if (verb === "create") return undefined;
  if (selection !== undefined) {
    const wanted = parseSelection("resourceslices", selection).required("spec.nodeName");
    return wanted === nodeName
      ? undefined
      : "can only list/watch/deletecollection resourceslices with spec.nodeName field selector";
  }
  const found = ref && world.store.get("resourceslices", keyOf(ref));
  return found === undefined || fieldAt(found, "spec.nodeName") === nodeName
    ? undefined
    : `no relationship found between node '${nodeName}' and this object`;
}

/** A node reads the attachments of its own volumes; only controllers create and delete them. */
function ofAttachments(world: ApiWorld, nodeName: string, { verb, ref }: ApiAttributes) {
  if (verb !== "get") return NOT_ONE;
  const found = ref && world.store.get("volumeattachments", keyOf(ref));
  return found === undefined || fieldAt(found, "spec.nodeName") === nodeName
    ? undefined
    : `no relationship found between node '${nodeName}' and this object`;
}

function ofNodes(_world: ApiWorld, nodeName: string, { verb, ref, selection }: ApiAttributes): string | undefined {
  if (verb === "delete") return NOBODY;
  if (selection !== undefined) {
    const wanted = parseSelection("nodes", selection).required("metadata.name");
    const other = wanted === undefined ? "all nodes" : `'${wanted}'`;
    return wanted === nodeName ? undefined : `node '${nodeName}' cannot read ${other}, only its own Node object`;
  }
  return verb !== "get" || ref?.name === nodeName
    ? undefined
    : `node '${nodeName}' cannot read '${ref?.name}', only its own Node object`;
}

/** Rules of the cluster role system:node-bootstrapper, for clients with a bootstrap token. */
const bootstrapRefusal = ({ verb, resource, subresource }: ApiAttributes): string | undefined =>
  resource === "certificatesigningrequests" && subresource === undefined && [...READS, "create"].includes(verb)
    ? undefined
    : NOBODY;

/**
 * Returns why the request is forbidden, with the server's message; undefined if it is allowed. Administrators may do
 * everything.
 */
export function authorize(world: ApiWorld, identity: ApiIdentity, attributes: ApiAttributes): string | undefined {
  if (identity.kind === "admin") return undefined;
  const why = identity.kind === "node" ? refusal(world, identity.nodeName, attributes) : bootstrapRefusal(attributes);
  if (why === undefined) return undefined;
  const { verb, resource, subresource, ref, selection } = attributes;
  const namespace = ref?.namespace ?? selection?.namespace ?? "";
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
  const { group } = API_RESOURCES[resource];
  return `User "${userName(identity)}" cannot ${verb} resource "${what}" in API group "${group}" ${where}${why === NOBODY ? "" : `: ${why}`}`;
}
