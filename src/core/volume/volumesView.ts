/**
 * The volumes of a node as the server returns them: desired, mounted, waiting and orphaned. docs/operations.md
 * documents the format; fields may be added but not changed.
 */
import { csiVolumeName, globalMount } from "../csi/csiLayout.ts";
import { epochMs, type PodUid } from "../ids.ts";
import { formatInstantMs } from "../time/civilTime.ts";
import type { Instant } from "../timeline/timelineTypes.ts";
import type { LeftStage } from "./leftStage.ts";
import type { PodVolumes } from "./podVolumes.ts";
import type { VolumeLayout } from "./volumeLayout.ts";
import type { VolumeFailure } from "./volumePlan.ts";
import { type VolumeState, volumeStates } from "./volumeStates.ts";

export interface VolumesView {
  /** Time of the snapshot. */
  readonly at: string;
  /** Pods with desired or existing volumes. */
  readonly pods: readonly PodVolumesView[];
  /** Volumes of removed pods that are left on disk; absent in the view of a single pod. */
  readonly orphans?: readonly OrphanView[];
  /** Volumes of the node that no pod has and that stay; absent in the view of a single pod, and while there are none. */
  readonly stages?: readonly LeftStage[];
}

export interface PodVolumesView {
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly volumes: readonly VolumeView[];
}

export interface OrphanView {
  readonly uid: string;
  readonly path: string;
  /** Why it is not removed. */
  readonly reason: string;
  readonly volumes: readonly VolumeView[];
}

export interface VolumeView {
  readonly name: string;
  /** `orphaned`: it belongs to a removed pod. */
  readonly state: VolumeState["state"] | "orphaned";
  /** Absent while its source is unknown. */
  readonly plugin?: string;
  /** Name of the PersistentVolume behind a claim. */
  readonly volume?: string;
  /** Path on the node; absent for images, which the runtime mounts. */
  readonly path?: string;
  /** Source of its mount or bind mount. */
  readonly source?: string;
  /** Mount point of a CSI volume that all pods of the node share. */
  readonly stage?: string;
  readonly reason?: string;
  /** Consecutive failures, and the time of the next attempt. */
  readonly failures?: number;
  readonly next?: { readonly at: string; readonly inSeconds: number };
}

/** A pod with its volumes. */
export interface ShownPod {
  readonly uid: PodUid;
  readonly namespace: string;
  readonly name: string;
  readonly volumes: PodVolumes;
}

/** A directory that belongs to no pod. */
export interface ShownOrphan extends Omit<OrphanView, "volumes"> {
  readonly volumes: PodVolumes;
}

/** Returns the view at `now`; `orphans` is undefined when they are not requested. */
export const volumesView = (
  now: Instant,
  pods: readonly ShownPod[],
  orphans: readonly ShownOrphan[] | undefined,
  stages: readonly LeftStage[] = [],
): VolumesView => ({
  at: formatInstantMs(now.wall),
  pods: pods.map(({ uid, namespace, name, volumes }) => ({
    pod: { namespace, name, uid },
    volumes: volumeStates(volumes).map((state) => volumeView(state, now)),
  })),
  ...(orphans && {
    orphans: orphans.map(({ volumes, ...orphan }) => ({
      ...orphan,
      volumes: volumeStates(volumes).map((state): VolumeView => {
        // The reason is reported for the whole directory.
        const { reason: _reason, ...view } = volumeView(state, now);
        return { ...view, state: "orphaned" };
      }),
    })),
  }),
  ...(stages.length > 0 && { stages }),
});

function volumeView({ name, state, reason, layout, actual }: VolumeState, now: Instant): VolumeView {
  const { plugin, path, name: own = name } = layout ?? actual ?? {};
  const source = layout && sourceOf(layout);
  return {
    name,
    state,
    ...(plugin ? { plugin } : {}),
    ...(own === name ? {} : { volume: own }),
    ...(path ? { path } : {}),
    ...(source === undefined ? {} : { source }),
    ...(layout?.csi?.stageDir === undefined ? {} : { stage: globalMount(layout.csi.stageDir) }),
    ...(reason === undefined ? {} : { reason }),
    ...(actual?.failure && failureView(actual.failure, now)),
  };
}

const sourceOf = ({ fileSystem, bound, image, csi }: VolumeLayout): string | undefined =>
  image?.reference ?? fileSystem?.source ?? bound?.source ?? (csi && csiVolumeName(csi.driver, csi.handle));

function failureView(
  { count, againAt }: VolumeFailure,
  { wall, mono }: Instant,
): Pick<VolumeView, "failures" | "next"> {
  const inMs = Math.max(0, againAt - mono);
  return { failures: count, next: { at: formatInstantMs(epochMs(wall + inMs)), inSeconds: Math.round(inMs) / 1000 } };
}
