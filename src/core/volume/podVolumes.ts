/** The desired and actual state of one pod's volumes, and what prevents the pod from starting. */
import type { KubeletError } from "../errors.ts";
import type { ActualVolume } from "./volumePlan.ts";
import { ATTACH, NODE_AFFINITY, type SetUpError } from "./volumeChecks.ts";
import { type VolumeLayout, volumeKey } from "./volumeLayout.ts";

/** Desired state of a volume. */
export type VolumeWish =
  /** The claim or driver is being looked up. */
  | { readonly kind: "pending" }
  | { readonly kind: "refused"; readonly error: KubeletError }
  | { readonly kind: "resolved"; readonly layout: VolumeLayout };

/** Desired and actual volumes of a pod. */
export interface PodVolumes {
  /** Desired volumes by their name in the pod; empty when the pod needs none. */
  readonly wishes: ReadonlyMap<string, VolumeWish>;
  /** Actual volumes by `volumeKey`. */
  readonly actual: ReadonlyMap<string, ActualVolume>;
  /** The number of desired volumes that containers cannot use yet. */
  readonly unmounted: number;
  /** The number of desired volumes that were rejected, or that other pods have with another SELinux label. */
  readonly refused: number;
}

const isMounted = (wish: VolumeWish | undefined, { actual }: Pick<PodVolumes, "actual">): boolean =>
  wish?.kind === "resolved" && actual.get(volumeKey(wish.layout))?.condition === "mounted";

/** Returns why the volume keeps its pod waiting, for an event at once. */
function refusalOf(wish: VolumeWish | undefined, { actual }: Pick<PodVolumes, "actual">): string | undefined {
  if (wish?.kind === "refused") return wish.error.message;
  const volume = wish?.kind === "resolved" ? actual.get(volumeKey(wish.layout)) : undefined;
  return volume?.isBlocked === true && volume.condition !== "mounted" ? volume.waitsFor : undefined;
}

/** Returns the volumes of a pod with their counts. */
export function podVolumesOf({ wishes, actual }: Pick<PodVolumes, "wishes" | "actual">): PodVolumes {
  const all = [...wishes.values()];
  return {
    wishes,
    actual,
    unmounted: all.filter((wish) => !isMounted(wish, { actual })).length,
    refused: all.filter((wish) => refusalOf(wish, { actual }) !== undefined).length,
  };
}

/** The state of a pod without volumes. */
export const NO_VOLUMES: PodVolumes = podVolumesOf({ wishes: new Map(), actual: new Map() });

/** Returns those of these volumes that containers cannot use yet, sorted. */
export const unmountedVolumes = (names: readonly string[], volumes: PodVolumes): readonly string[] =>
  names.filter((name) => !isMounted(volumes.wishes.get(name), volumes)).sort();

/** Returns the layouts of the mounted volumes, by their name in the pod. */
export function mountedLayouts(volumes: PodVolumes): ReadonlyMap<string, VolumeLayout> {
  return new Map(
    [...volumes.wishes].flatMap(([name, wish]) =>
      wish.kind === "resolved" && isMounted(wish, volumes)
        ? [[name, mountedLayout(wish.layout, volumes)] as const]
        : [],
    ),
  );
}

const mountedLayout = (layout: VolumeLayout, { actual }: PodVolumes): VolumeLayout =>
  actual.get(volumeKey(layout))?.hasFixedLabels === true ? { ...layout, selinuxRelabel: false } : layout;

/** Returns the stage of a pod's volumes that pod sync distinguishes. */
export function volumeStage(volumes: PodVolumes): "mounting" | "mounted" | "unmounting" | "unmounted" {
  if (volumes.wishes.size === 0) return volumes.actual.size === 0 ? "unmounted" : "unmounting";
  return volumes.unmounted === 0 ? "mounted" : "mounting";
}

/** Returns whether nothing of the pod's volumes is left on the node. */
export const isAllUnmounted = ({ wishes, actual }: PodVolumes): boolean => wishes.size === 0 && actual.size === 0;

const list = (names: readonly string[]): string => `[${names.join(" ")}]`;

/** Returns why the pod waits, in the text of upstream's event; undefined when all these volumes are mounted. */
export function waitMessage(names: readonly string[], volumes: PodVolumes): string | undefined {
  const text = waitText(names, volumes);
  return text === undefined ? undefined : `Unable to attach or mount volumes: ${text}`;
}

/** Returns the volumes the pod waits for, and why; undefined when all these volumes are mounted. */
export function waitText(names: readonly string[], volumes: PodVolumes): string | undefined {
  const unmounted = unmountedVolumes(names, volumes);
  if (unmounted.length === 0) return undefined;
  const refusals = names.flatMap((name) => refusalOf(volumes.wishes.get(name), volumes) ?? []);
  const unprocessed = unmounted.filter((name) => volumes.wishes.get(name)?.kind !== "resolved");
  const unattached = unmounted.filter((name) => {
    const wish = volumes.wishes.get(name);
    const volume = wish?.kind === "resolved" ? volumes.actual.get(volumeKey(wish.layout)) : undefined;
    return volume?.waitsFor !== undefined && volume.isBlocked !== true;
  });
  const why = refusals.length === 0 ? "context deadline exceeded" : refusals.join("; ");
  return `unmounted volumes=${list(unmounted)}, unattached volumes=${list(unattached)}, failed to process volumes=${list(unprocessed)}: ${why}`;
}

/** Returns reason and message of the event for a failed set up, with the failed step. */
export function setUpFailure(
  { name, block }: Pick<VolumeLayout, "name" | "block">,
  { step = "SetUp", isExpanding, message }: SetUpError,
): { readonly reason: "FailedAttachVolume" | "FailedMount" | "FailedMapVolume"; readonly message: string } {
  const what = `${step} failed${isExpanding === true ? " while expanding volume" : ""} for volume "${name}" : ${message}`;
  if (step === ATTACH) return { reason: "FailedAttachVolume", message: `AttachVolume.${what}` };
  if (block === undefined) return { reason: "FailedMount", message: `MountVolume.${what}` };
  return { reason: step === NODE_AFFINITY ? "FailedMount" : "FailedMapVolume", message: `MapVolume.${what}` };
}
