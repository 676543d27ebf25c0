/**
 * Resolves a claim to its volume, with upstream's errors while there is none. Upstream: createVolumeSpec of
 * desired_state_of_world_populator.go.
 */
import type { ApiObjects } from "../api/apiResources.ts";
import type { Pod } from "../api.ts";
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";
import { isMigrated, migratedPersistent } from "../csi/migratedVolumes.ts";
import type { CsiSource } from "./csiVolume.ts";
import type { VolumeCapacity } from "./volumeExpansion.ts";
import type { Volume, VolumeOrigin } from "./volumeLayout.ts";

type Claim = ApiObjects["persistentvolumeclaims"];
type PersistentVolume = ApiObjects["persistentvolumes"];

/** A pod volume's reference to its claim. */
export interface ClaimReference {
  readonly claimName: string;
  readonly readOnly: boolean;
  /** The claim must be created for this pod. */
  readonly isEphemeral: boolean;
}

const PROTECTION = "kubernetes.io/pvc-protection";

const refuse = (message: string): Result<never> => err(kubeletError("Unavailable", message, { reason: "FailedMount" }));

/**
 * Returns the claim that a volume names, or that is created from its template; undefined for a volume without a claim.
 */
export function claimOf(pod: Pod, { name, persistentVolumeClaim, ephemeral }: Volume): ClaimReference | undefined {
  if (persistentVolumeClaim !== undefined) {
    const { claimName, readOnly = false } = persistentVolumeClaim;
    return { claimName, readOnly, isEphemeral: false };
  }
  return ephemeral && { claimName: `${pod.metadata.name}-${name}`, readOnly: false, isEphemeral: true };
}

/** Returns whether the volume's source must be looked up in the API server. */
export const isLookedUp = (pod: Pod, volume: Volume): boolean =>
  volume.csi !== undefined || isMigrated(volume) || claimOf(pod, volume) !== undefined;

/** Returns the name of the PersistentVolume that a claim is bound to. */
export function boundVolumeName(pod: Pod, { isEphemeral }: ClaimReference, claim: Claim): Result<string> {
  const { metadata = {}, spec = {}, status = {} } = claim;
  const { namespace, name, uid } = pod.metadata;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (isEphemeral && owner?.uid !== uid) {
    return refuse(
      `PVC ${namespace}/${metadata.name ?? ""} was not created for pod ${namespace}/${name} (pod is not owner)`,
    );
  }
  // A protected claim is deleted only after its pods have ended, so they keep it, also across a kubelet restart.
  const isProtected = metadata.finalizers?.includes(PROTECTION) === true;
  if (metadata.deletionTimestamp !== undefined && !isProtected) return refuse("PVC is being deleted");
  if (status.phase !== "Bound") return refuse("PVC is not bound");
  return spec.volumeName ? ok(spec.volumeName) : refuse("PVC has empty pvc.Spec.VolumeName");
}

/** Returns the source of a PersistentVolume that is bound to this claim. */
export function originOf(found: PersistentVolume, claim: Claim, readOnly: boolean): Result<VolumeOrigin> {
  const refused = bindingFault(found, claim);
  if (refused !== undefined) return refuse(refused);
  const migrated = migratedPersistent(found);
  if (!migrated.ok) return migrated;
  const volume = migrated.value;
  const { metadata = {}, spec = {} } = volume;
  const { name = "" } = metadata;
  const { hostPath, nfs, local, csi, flexVolume, fc, iscsi, accessModes, nodeAffinity } = spec;
  const { volumeMode = "Filesystem" } = spec;
  const nodeTerms = nodeAffinity?.required?.nodeSelectorTerms;
  const capacity = capacityOf(volume, claim);
  return ok({
    name,
    ...(hostPath && { hostPath }),
    ...(nfs && { nfs }),
    ...(local && { local }),
    ...(csi && {
      csi: {
        ...{ driver: csi.driver, mode: "Persistent" as const, source: csiSource(csi, accessModes) },
        ...(isMigrated(found.spec ?? {}) && { isMigrated: true as const }),
      },
    }),
    ...(flexVolume && { flexVolume }),
    ...(fc && { fc }),
    ...(iscsi && { iscsi }),
    ...(csi === undefined && accessModes && { accessModes }),
    ...(nodeTerms && { nodeTerms }),
    ...(volumeMode === "Block" && { isBlock: true }),
    ...(capacity && { capacity }),
    mountOptions: mountOptionsOf(volume),
    readOnly,
  });
}

/** Returns the sizes of a volume that can be expanded on the node. */
function capacityOf({ spec = {} }: PersistentVolume, { metadata, status }: Claim): VolumeCapacity | undefined {
  const { csi, local, flexVolume, capacity } = spec;
  const [size, claimed] = [capacity?.["storage"], status?.capacity?.["storage"]];
  if ((csi ?? local ?? flexVolume) === undefined || size === undefined || claimed === undefined) return undefined;
  return { claim: { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" }, size, claimed };
}

function bindingFault({ metadata = {}, spec = {} }: PersistentVolume, claim: Claim): string | undefined {
  const [owner = "", uid = ""] = [spec.claimRef?.uid, claim.metadata?.uid];
  const found = `found PV object ${metadata.name ?? ""} but`;
  if (spec.claimRef === undefined) {
    return `${found} it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`;
  }
  return owner === uid ? undefined : `${found} its pv.Spec.ClaimRef.UID ${owner} does not point to claim.UID ${uid}`;
}

type CsiSpec = NonNullable<NonNullable<PersistentVolume["spec"]>["csi"]>;

function csiSource({ driver: _driver, ...source }: CsiSpec, accessModes: readonly string[] | undefined): CsiSource {
  return { ...source, ...(accessModes && { accessModes }) };
}

const MOUNT_OPTIONS = "volume.beta.kubernetes.io/mount-options";

/** The deprecated annotation takes precedence over the field. */
function mountOptionsOf({ metadata, spec }: PersistentVolume): readonly string[] {
  const annotation = metadata?.annotations?.[MOUNT_OPTIONS];
  const options = annotation === undefined ? (spec?.mountOptions ?? []) : annotation.split(",");
  return options.filter((option) => option !== "");
}
