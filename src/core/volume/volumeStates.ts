/** State of each volume of a pod, between desired and actual. */
import type { PodVolumes, VolumeWish } from "./podVolumes.ts";
import { volumeKey, type VolumeLayout } from "./volumeLayout.ts";
import type { ActualVolume } from "./volumePlan.ts";

export interface VolumeState {
  /** The volume's name in the pod, or its own name when the pod no longer needs it. */
  readonly name: string;
  /**
   * `mounted`: containers can use it. `pending`: desired and not mounted yet. `removing`: existing and no longer
   * desired.
   */
  readonly state: "mounted" | "pending" | "removing";
  /** Why it is not mounted, or why a mounted one cannot be updated. */
  readonly reason: string | undefined;
  /** undefined when the volume is not desired or not resolved. */
  readonly layout: VolumeLayout | undefined;
  /** undefined before the first operation. */
  readonly actual: ActualVolume | undefined;
}

/** Returns all desired and existing volumes, sorted by name. */
export function volumeStates({ wishes, actual }: PodVolumes): readonly VolumeState[] {
  const left = new Map(actual);
  const states: VolumeState[] = [];
  for (const [name, wish] of wishes) {
    const key = wish.kind === "resolved" ? volumeKey(wish.layout) : "";
    states.push(wantedState(name, wish, actual.get(key)));
    left.delete(key);
  }
  for (const volume of left.values()) {
    const reason = volume.failure?.error.message ?? "is being removed";
    states.push({ name: volume.name, state: "removing", reason, layout: undefined, actual: volume });
  }
  return states.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function wantedState(name: string, wish: VolumeWish, actual: ActualVolume | undefined): VolumeState {
  if (wish.kind !== "resolved") {
    const reason = wish.kind === "refused" ? wish.error.message : "its objects are being looked up";
    return { name, state: "pending", reason, layout: undefined, actual: undefined };
  }
  const isMounted = actual?.condition === "mounted";
  const doing = isMounted ? undefined : "is being set up";
  const reason = actual?.failure?.error.message ?? actual?.waitsFor ?? doing;
  return { name, state: isMounted ? "mounted" : "pending", reason, layout: wish.layout, actual };
}
