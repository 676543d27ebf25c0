/** What a pod is told of its volume while that is being made, in upstream's words. Counterparts: events of pkg/volume. */

/** A warning about a volume, an event of its pod. */
export interface VolumeNotice {
  readonly reason: "AlreadyMountedVolume" | "VolumePermissionChangeInProgress";
  readonly message: string;
}

/** Pods with other groups share the volume: nothing when it is the same group. */
export const alreadyMounted = (volume: string, wanted: number, found: number): readonly VolumeNotice[] =>
  wanted === found
    ? []
    : [
        {
          reason: "AlreadyMountedVolume",
          message: `The requested fsGroup is ${wanted}, but the volume ${volume} has GID ${found}. The volume may not be shareable.`,
        },
      ];

const HINT =
  "is taking longer than expected, consider using OnRootMismatch - https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#configure-volume-permission-and-ownership-change-policy-for-pods";

/** Giving the volume to its group takes long; `directory` from the pod's own on, `seen` undefined the first time. */
export const ownershipProgress = (directory: string, seen?: number): VolumeNotice => ({
  reason: "VolumePermissionChangeInProgress",
  message: `Setting volume ownership for ${directory}${seen === undefined ? ` ${HINT}` : `, processed ${seen} files.`}`,
});
