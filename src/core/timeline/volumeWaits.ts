/** Waits for volumes: those that containers cannot use yet, and after termination those still to be torn down. */
import type { PodVolumes } from "../volume/podVolumes.ts";
import { volumeStates } from "../volume/volumeStates.ts";
import type { PodTimeline, PodWait } from "./timelineTypes.ts";

/** Returns one wait per volume, sorted by name. */
export function volumeWaits({ state }: Pick<PodTimeline, "state">, volumes: PodVolumes): readonly PodWait[] {
  const awaited = state === "syncing" ? "pending" : state === "terminated" ? "removing" : undefined;
  return volumeStates(volumes)
    .filter((each) => each.state === awaited)
    .map(({ name, reason, actual }) => ({
      what: "Volume",
      cause: `${name}: ${reason}`,
      forMs: undefined,
      ...(actual?.failure === undefined ? {} : { next: { what: "next try", at: actual.failure.againAt } }),
    }));
}
