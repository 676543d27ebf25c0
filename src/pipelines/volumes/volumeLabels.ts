/**
 * SELinux labels of the volumes that pods of this node want: the first pod decides the label of a volume, pods with another
 * one are refused until its last pod has ended. Owner of these labels. Bound: an entry per volume that pods want. Upstream: the
 * labels in desired_state_of_world.go. Differs from upstream: a refusal counts once, not ten times a second.
 *
 *     pod a (label x)    admit------------------------drop
 *     pod b (label y)           refuse                readmit$--admit
 */
import { type Observable, Subject } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { podUid, type PodUid } from "../../core/ids.ts";
import { type LabelCount, labelDecision } from "../../core/selinux/labelAdmission.ts";
import { NO_LABEL } from "../../core/selinux/fileLabel.ts";
import { labelledLayout } from "../../core/selinux/labelledLayout.ts";
import { type VolumeLabel, volumeLabel } from "../../core/selinux/volumeLabel.ts";
import type { Volume, VolumeLayout, VolumeNode, VolumeOrigin } from "../../core/volume/volumeLayout.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Telemetry } from "../../ports/telemetry.ts";

/** A volume of a pod, by its name in the pod. */
export interface LabelledVolume {
  readonly uid: PodUid;
  readonly name: string;
}

export interface VolumeLabels {
  /** Returns the label with which the volume is mounted for the pod: the same one until the pod is dropped. */
  admit(pod: LabelledVolume, wish: VolumeLabel): Result<string>;
  /** Notes that a pod has the volume with this label from an earlier kubelet. */
  adopt(uid: PodUid, volume: string, label: string): void;
  /** Forgets a pod that needs its volumes no more. */
  drop(uid: PodUid): void;
  /** Emits volumes that were refused, when the label that they contradict is gone. */
  readonly readmit$: Observable<LabelledVolume>;
}

/** A volume of the node. Without pods it has refused some, each for itself. */
interface Entry {
  /** Label that its pods want; undefined: no pod has it. */
  label: string | undefined;
  readonly pods: Map<PodUid, string>;
  readonly refused: Map<string, LabelledVolume>;
}

/** Creates the only owner. */
export function createVolumeLabels({ metrics }: Pick<Telemetry, "metrics">): VolumeLabels {
  const entries = new Map<string, Entry>();
  const readmit$ = new Subject<LabelledVolume>();
  const counted = new Map<string, number>();
  const count = (what: LabelCount, { plugin, accessMode }: VolumeLabel): void => {
    const hasPlugin = what.startsWith("volume_manager_selinux_volume");
    const labels = { ...(hasPlugin && { volume_plugin: plugin }), access_mode: accessMode };
    const key = `${what} ${accessMode} ${hasPlugin ? plugin : ""}`;
    const value = (counted.get(key) ?? 0) + 1;
    counted.set(key, value);
    metrics.gauge(what, value, labels);
  };
  const entryOf = (volume: string): Entry => {
    const entry = entries.get(volume) ?? { label: undefined, pods: new Map(), refused: new Map() };
    entries.set(volume, entry);
    return entry;
  };
  return {
    admit(pod, wish) {
      const entry = entryOf(wish.volume);
      const known = entry.pods.get(pod.uid);
      if (known !== undefined) return ok(known);
      const decision = labelDecision(wish, entry.label);
      const key = `${pod.uid}/${pod.name}`;
      const isNews = !entry.refused.has(key);
      if (decision.kind === "admitted" || isNews) for (const each of decision.counts) count(each, wish);
      if (decision.kind === "refused") {
        entry.refused.set(key, pod);
        return err(decision.error);
      }
      const label = wish.isMountable ? decision.label : NO_LABEL;
      entry.label = decision.label;
      entry.refused.delete(key);
      entry.pods.set(pod.uid, label);
      return ok(label);
    },
    adopt(uid, volume, label) {
      const entry = entryOf(volume);
      entry.label ??= label;
      entry.pods.set(uid, label);
    },
    drop(uid) {
      const freed: LabelledVolume[] = [];
      for (const [volume, entry] of entries) {
        const hadPods = entry.pods.size > 0;
        entry.pods.delete(uid);
        for (const [key, refused] of entry.refused) if (refused.uid === uid) entry.refused.delete(key);
        if (entry.pods.size > 0) continue;
        entry.label = undefined;
        if (entry.refused.size === 0) entries.delete(volume);
        else if (hadPods) freed.push(...entry.refused.values());
      }
      for (const each of freed) readmit$.next(each);
    },
    readmit$,
  };
}

/** Returns the layout of the pod's volume with its label, or why the pod must not have it beside others. */
export function labelledVolume(
  pod: Pod,
  volume: Volume,
  origin: VolumeOrigin | undefined,
  layout: VolumeLayout,
  { node: { selinux }, labels }: { readonly node: VolumeNode; readonly labels: VolumeLabels | undefined },
): Result<VolumeLayout> {
  if (selinux === undefined || labels === undefined) return ok(layout);
  const wish = volumeLabel(pod, volume.name, origin ?? { name: volume.name }, layout, selinux);
  if (wish === undefined) return ok(layout);
  const label = labels.admit({ uid: podUid(pod.metadata.uid), name: volume.name }, wish);
  return label.ok ? ok(labelledLayout(layout, label.value)) : label;
}
