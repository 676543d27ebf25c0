/**
 * Times at which a volume is published again, for drivers whose CSIDriver requires it: with each resync of the pod, as upstream.
 * Upstream: RequiresRemount of pkg/volume/csi.
 */
import type { MonotonicMs } from "../ids.ts";
import type { ActualVolume, VolumeInputs } from "../volume/volumePlan.ts";

const publishedAt = ({ inputs }: ActualVolume): number => Number(inputs[1] ?? 0);

/**
 * Returns the inputs of a volume of this driver: others than those of a mounted volume once it is due. A failed publication is
 * repeated after its delay, or when the driver registers again.
 */
export function republishInputs(
  driver: unknown,
  actual: ActualVolume | undefined,
  now: MonotonicMs,
  periodMs: number,
): VolumeInputs {
  const { condition, inputs = [], failure } = actual ?? {};
  const isDelayed = failure?.operation === "setUp" && failure.inputs[0] === driver && now < failure.againAt;
  if (isDelayed) return failure.inputs;
  return condition === "mounted" && untilRepublish(actual, now, periodMs) !== 0 ? inputs : [driver, now];
}

/** Returns the time until a mounted volume is due; undefined if it is not mounted. */
export const untilRepublish = (
  actual: ActualVolume | undefined,
  now: MonotonicMs,
  periodMs: number,
): number | undefined =>
  actual?.condition === "mounted" ? Math.max(0, publishedAt(actual) + periodMs - now) : undefined;
