/** Events of a pod about its volumes during set up, with upstream's texts. Upstream: events of pkg/volume. */
import { goQuote } from "../container/goJson.ts";
import type { BlockPlaces } from "./blockVolume.ts";

/** An event about a volume. */
export interface VolumeNotice {
  /** Default: Warning. */
  readonly type?: "Normal";
  readonly reason: "AlreadyMountedVolume" | "SuccessfulMountVolume" | "VolumePermissionChangeInProgress";
  readonly message: string;
}

/** Returns the events about a block volume that containers can use. */
export function mappedNotices(volume: string, { mapDir, link }: BlockPlaces): readonly VolumeNotice[] {
  const mapped = `MapVolume.MapPodDevice succeeded for volume ${goQuote(volume)}`;
  const volumeMapPath = link.slice(0, link.lastIndexOf("/"));
  return [`globalMapPath ${goQuote(mapDir)}`, `volumeMapPath ${goQuote(volumeMapPath)}`].map((where) => ({
    type: "Normal",
    reason: "SuccessfulMountVolume",
    message: `${mapped} ${where}`,
  }));
}

/** Returns a warning when pods with different groups share the volume. */
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

/**
 * Returns the warning for a slow ownership change; `directory` is relative to the pod's directory, `seen` is undefined
 * the first time.
 */
export const ownershipProgress = (directory: string, seen?: number): VolumeNotice => ({
  reason: "VolumePermissionChangeInProgress",
  message: `Setting volume ownership for ${directory}${seen === undefined ? ` ${HINT}` : `, processed ${seen} files.`}`,
});
