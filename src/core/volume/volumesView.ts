/**
 * The volumes of a node as they are served: what pods want, what is mounted, what waits and what is left over. The shape
 * is documented in docs/operations.md; fields are added, not changed.
 */
import { epochMs, type PodUid } from "../ids.ts";
import { formatInstantMs } from "../telemetry/civilTime.ts";
import type { Instant } from "../timeline/timelineTypes.ts";
import type { PodVolumes } from "./podVolumes.ts";
import type { VolumeLayout } from "./volumeLayout.ts";
import type { VolumeFailure } from "./volumePlan.ts";
import { type VolumeState, volumeStates } from "./volumeStates.ts";

export interface VolumesView {
  /** When this was said. */
  readonly at: string;
  /** Pods that have volumes, or want some. */
  readonly pods: readonly PodVolumesView[];
  /** What pods that are gone have left on disk; absent when one pod was asked for. */
  readonly orphans?: readonly OrphanView[];
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
  /** `orphaned`: of a pod that is gone. */
  readonly state: VolumeState["state"] | "orphaned";
  /** Absent while it is not known what makes it. */
  readonly plugin?: string;
  /** Of the PersistentVolume behind a claim. */
  readonly volume?: string;
  /** Where it is on the node; absent of images, which the runtime mounts. */
  readonly path?: string;
  /** What is mounted or bound there. */
  readonly source?: string;
  readonly reason?: string;
  /** Tries that failed in a row, and when the next one is. */
  readonly failures?: number;
  readonly next?: { readonly at: string; readonly inSeconds: number };
}

/** A pod whose volumes are shown. */
export interface ShownPod {
  readonly uid: PodUid;
  readonly namespace: string;
  readonly name: string;
  readonly volumes: PodVolumes;
}

/** A directory nobody wants. */
export interface ShownOrphan extends Omit<OrphanView, "volumes"> {
  readonly volumes: PodVolumes;
}

/** The view as of `now`; `orphans` undefined: not asked for. */
export const volumesView = (
  now: Instant,
  pods: readonly ShownPod[],
  orphans: readonly ShownOrphan[] | undefined,
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
        // Why it stays is said of the whole directory.
        const { reason: _reason, ...view } = volumeView(state, now);
        return { ...view, state: "orphaned" };
      }),
    })),
  }),
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
    ...(reason === undefined ? {} : { reason }),
    ...(actual?.failure && failureView(actual.failure, now)),
  };
}

const sourceOf = ({ fileSystem, bound, image }: VolumeLayout): string | undefined =>
  image?.reference ?? fileSystem?.source ?? bound?.source;

function failureView(
  { count, againAt }: VolumeFailure,
  { wall, mono }: Instant,
): Pick<VolumeView, "failures" | "next"> {
  const inMs = Math.max(0, againAt - mono);
  return { failures: count, next: { at: formatInstantMs(epochMs(wall + inMs)), inSeconds: Math.round(inMs) / 1000 } };
}
