/** What a pod waits for at its volumes: those its containers cannot use yet, and at the end those still to be taken away. */
import type { ActualVolume } from "../volume/volumePlan.ts";
import { volumeKey } from "../volume/volumeLayout.ts";
import { type PodVolumes, unmountedVolumes, type VolumeWish } from "../volume/podVolumes.ts";
import type { PodTimeline, PodWait } from "./timelineTypes.ts";

/** One wait per volume, sorted by name. */
export function volumeWaits({ state }: Pick<PodTimeline, "state">, volumes: PodVolumes): readonly PodWait[] {
  if (state === "terminated") {
    return [...volumes.actual.values()].map((actual) => volumeWait(actual.name, "is being taken away", actual));
  }
  if (state !== "syncing") return [];
  return unmountedVolumes([...volumes.wishes.keys()], volumes).map((name) =>
    mountWait(name, volumes.wishes.get(name), volumes),
  );
}

function mountWait(name: string, wish: VolumeWish | undefined, { actual }: PodVolumes): PodWait {
  if (wish?.kind === "refused") return volumeWait(name, wish.error.message);
  if (wish?.kind !== "resolved") return volumeWait(name, "the claim it names is being looked up");
  return volumeWait(name, "is being made", actual.get(volumeKey(wish.layout)));
}

/** A step that failed says more than that it is being done. */
function volumeWait(name: string, doing: string, actual?: ActualVolume): PodWait {
  const failure = actual?.failure;
  return {
    what: "Volume",
    cause: `${name}: ${failure?.error.message ?? doing}`,
    forMs: undefined,
    ...(failure === undefined ? {} : { next: { what: "next try", at: failure.againAt } }),
  };
}
