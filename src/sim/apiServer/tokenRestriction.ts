/**
 * Admission of a node's requests for service account tokens: bound to one of its pods, for an audience that the pod
 * requests or an administrator allows. Upstream: admitServiceAccount of plugin/pkg/admission/noderestriction, with
 * ServiceAccountNodeAudienceRestriction.
 */
import type {
  AuthenticationV1TokenRequest,
  V1CSIDriver,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1SubjectAccessReview,
} from "@kubernetes/client-node";
import type { PodSpec, Wire } from "../../core/api.ts";
import type { ObjectRef } from "../../ports/apiServer.ts";
import type { ApiWorld } from "./apiWorld.ts";
import { type ApiIdentity, userName } from "./identity.ts";
import { fieldAt, keyOf, type StoredObject } from "../../core/apiObjects/storedObject.ts";

/** Decides whether an access is allowed. */
export type SimAccess = (spec: Wire<V1SubjectAccessReview>["spec"]) => boolean;

const AUDIENCE_VERB = "request-serviceaccounts-token-audience";

/**
 * The default decision: denies tokens for audiences that the pod does not request, except the server's own audience
 * (""); allows everything else. In a real cluster every pod requests the server's audience, because the ServiceAccount
 * admission plugin adds the token volume.
 */
export const mayUsually: SimAccess = ({ resourceAttributes: { verb, resource } = {} }) =>
  verb !== AUDIENCE_VERB || resource === "";

type Volume = NonNullable<PodSpec["volumes"]>[number];

/** Returns why a node may not have this token; undefined if it may. */
export function admitToken(
  { world, mayAccess }: { readonly world: ApiWorld; readonly mayAccess: SimAccess },
  identity: ApiIdentity,
  account: ObjectRef,
  { spec }: Wire<AuthenticationV1TokenRequest>,
): string | undefined {
  if (identity.kind !== "node") return undefined;
  const bound = spec?.boundObjectRef;
  if (bound?.kind !== "Pod" || bound.apiVersion !== "v1" || !bound.name)
    return "node requested token not bound to a pod";
  if (!bound.uid) return "node requested token with a pod binding without a uid";
  const pod = world.store.get("pods", keyOf({ ...account, name: bound.name }));
  if (pod === undefined) return `pod "${bound.name}" not found`;
  if (pod.metadata.uid !== bound.uid) {
    return `the UID in the bound object reference (${bound.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  }
  if (fieldAt(pod, "spec.nodeName") !== identity.nodeName) {
    return "node requested token bound to a pod scheduled on a different node";
  }
  if (fieldAt(pod, "spec.serviceAccountName") !== account.name) {
    return `node requested token for a service account the pod does not use: ${account.name}`;
  }
  const [audience = "", ...others] = spec?.audiences ?? [];
  if (others.length > 0) return "node may only request 0 or 1 audiences";
  if (wantsAudience(world, pod, audience)) return undefined;
  const user = userName(identity);
  const resourceAttributes = { ...account, group: "", verb: AUDIENCE_VERB, resource: audience };
  return mayAccess({ user, groups: ["system:nodes"], resourceAttributes })
    ? undefined
    : `audience "${audience}" not found in pod spec volume, ${user} is not authorized to request tokens for this audience`;
}

/**
 * Returns whether the pod requests the audience: by a projected token, or by a CSI driver that mounts one of its
 * volumes and requests tokens of the pod.
 */
function wantsAudience(world: ApiWorld, pod: StoredObject, audience: string): boolean {
  const { volumes = [] } = pod["spec"] as PodSpec;
  return volumes.some((volume) => {
    const { sources = [] } = volume.projected ?? {};
    const projected = sources.flatMap(({ serviceAccountToken: token }) => (token === undefined ? [] : [token]));
    if (projected.some((token) => (token.audience ?? "") === audience)) return true;
    const name = driverOf(world, pod, volume);
    const driver = name === undefined ? undefined : world.store.get("csidrivers", name);
    const { tokenRequests = [] } = (driver?.["spec"] ?? {}) as Wire<V1CSIDriver>["spec"];
    return tokenRequests.some((request) => request.audience === audience);
  });
}

/** Returns the CSI driver of a volume: its own, or that of the PersistentVolume its claim is bound to. */
function driverOf(world: ApiWorld, { metadata }: StoredObject, volume: Volume): string | undefined {
  if (volume.csi !== undefined) return volume.csi.driver;
  const name =
    volume.ephemeral === undefined ? volume.persistentVolumeClaim?.claimName : `${metadata.name}-${volume.name}`;
  if (name === undefined) return undefined;
  const claim = world.store.get("persistentvolumeclaims", keyOf({ namespace: metadata.namespace ?? "", name }));
  const { volumeName = "" } = (claim?.["spec"] ?? {}) as NonNullable<Wire<V1PersistentVolumeClaim>["spec"]>;
  const bound = world.store.get("persistentvolumes", volumeName);
  return ((bound?.["spec"] ?? {}) as NonNullable<Wire<V1PersistentVolume>["spec"]>).csi?.driver;
}
