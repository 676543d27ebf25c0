/**
 * From a claim to the volume behind it, in upstream's words when there is none yet. Counterpart: createVolumeSpec of
 * desired_state_of_world_populator.go.
 */
import type { ApiObjects } from "../api/apiResources.ts";
import type { Pod } from "../api.ts";
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";
import type { Volume, VolumeOrigin } from "./volumeLayout.ts";

type Claim = ApiObjects["persistentvolumeclaims"];
type PersistentVolume = ApiObjects["persistentvolumes"];

/** What a volume of a pod says of its claim. */
export interface ClaimReference {
  readonly claimName: string;
  readonly readOnly: boolean;
  /** The claim has to be made for this pod alone. */
  readonly isEphemeral: boolean;
}

const PROTECTION = "kubernetes.io/pvc-protection";

const refuse = (message: string): Result<never> => err(kubeletError("Unavailable", message, { reason: "FailedMount" }));

/** The claim a volume names, or that was made from its template; undefined when it names its source itself. */
export function claimOf(pod: Pod, { name, persistentVolumeClaim, ephemeral }: Volume): ClaimReference | undefined {
  if (persistentVolumeClaim !== undefined) {
    const { claimName, readOnly = false } = persistentVolumeClaim;
    return { claimName, readOnly, isEphemeral: false };
  }
  return ephemeral && { claimName: `${pod.metadata.name}-${name}`, readOnly: false, isEphemeral: true };
}

/** Whether the pod alone does not say what makes it. */
export const isLookedUp = (pod: Pod, volume: Volume): boolean =>
  volume.csi !== undefined || claimOf(pod, volume) !== undefined;

/** The name of the volume a claim is bound to. */
export function boundVolumeName(pod: Pod, { isEphemeral }: ClaimReference, claim: Claim): Result<string> {
  const { metadata = {}, spec = {}, status = {} } = claim;
  const { namespace, name, uid } = pod.metadata;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (isEphemeral && owner?.uid !== uid) {
    return refuse(
      `PVC ${namespace}/${metadata.name ?? ""} was not created for pod ${namespace}/${name} (pod is not owner)`,
    );
  }
  // Of a claim that pods use only the deletion has begun: they go on, also after a restart of the kubelet.
  const isProtected = metadata.finalizers?.includes(PROTECTION) === true;
  if (metadata.deletionTimestamp !== undefined && !isProtected) return refuse("PVC is being deleted");
  if (status.phase !== "Bound") return refuse("PVC is not bound");
  return spec.volumeName ? ok(spec.volumeName) : refuse("PVC has empty pvc.Spec.VolumeName");
}

/** What makes the volume, if it is bound to this claim and has files. */
export function originOf(volume: PersistentVolume, claim: Claim, readOnly: boolean): Result<VolumeOrigin> {
  const { metadata = {}, spec = {} } = volume;
  const { name = "" } = metadata;
  const { claimRef, hostPath, nfs, local, csi, nodeAffinity, volumeMode = "Filesystem" } = spec;
  const nodeTerms = nodeAffinity?.required?.nodeSelectorTerms;
  const [owner = "", uid = ""] = [claimRef?.uid, claim.metadata?.uid];
  const found = `found PV object ${name} but`;
  if (claimRef === undefined) {
    return refuse(`${found} it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`);
  }
  if (owner !== uid) return refuse(`${found} its pv.Spec.ClaimRef.UID ${owner} does not point to claim.UID ${uid}`);
  if (volumeMode !== "Filesystem") return refuse(`volumeMode ${volumeMode} of PV object ${name} is not served`);
  return ok({
    name,
    ...(hostPath && { hostPath }),
    ...(nfs && { nfs }),
    ...(local && { local }),
    ...(csi && { csi: { driver: csi.driver, mode: "Persistent" } }),
    ...(nodeTerms && { nodeTerms }),
    mountOptions: mountOptionsOf(volume),
    readOnly,
  });
}

const MOUNT_OPTIONS = "volume.beta.kubernetes.io/mount-options";

/** The annotation of old counts before the field. */
function mountOptionsOf({ metadata, spec }: PersistentVolume): readonly string[] {
  const annotation = metadata?.annotations?.[MOUNT_OPTIONS];
  const options = annotation === undefined ? (spec?.mountOptions ?? []) : annotation.split(",");
  return options.filter((option) => option !== "");
}
