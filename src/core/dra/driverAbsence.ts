/**
 * Drivers whose ResourceSlices have to go: they were not usable for 30 s, so the scheduler must not place pods for them. A
 * shorter absence is a restart. Upstream: pendingWipes of DRAPluginManager.
 */
import { type MonotonicMs, monotonicMs } from "../ids.ts";

/** Time that a driver has to come back, as upstream. */
export const DRIVER_RETURN_MS = 30_000;

/** Usable drivers, and when the slices of others are due. */
export interface DriverAbsence {
  readonly usable: ReadonlySet<string>;
  /** Due times of drivers that went. */
  readonly dueAt: ReadonlyMap<string, MonotonicMs>;
  /** Due time of drivers that were never seen: they have not come back since the kubelet started; undefined: done. */
  readonly othersDueAt: MonotonicMs | undefined;
}

/**
 * Returns the absence of all drivers at the start. Differs from upstream, which deletes all slices of the node at once: a
 * driver that survived the restart of its kubelet would publish them again.
 */
export const absenceAtStart = (now: MonotonicMs): DriverAbsence => ({
  usable: new Set(),
  dueAt: new Map(),
  othersDueAt: monotonicMs(now + DRIVER_RETURN_MS),
});

/** Returns the absence once these drivers are usable. */
export function withUsable(absence: DriverAbsence, usable: ReadonlySet<string>, now: MonotonicMs): DriverAbsence {
  const dueAt = new Map([...absence.dueAt].filter(([driver]) => !usable.has(driver)));
  for (const driver of absence.usable) {
    if (!usable.has(driver)) dueAt.set(driver, monotonicMs(now + DRIVER_RETURN_MS));
  }
  return { ...absence, usable, dueAt };
}

/** Returns the next due time; undefined if none. */
export function nextDueAt({ dueAt, othersDueAt }: DriverAbsence): MonotonicMs | undefined {
  const times = [...dueAt.values(), ...(othersDueAt === undefined ? [] : [othersDueAt])];
  return times.length === 0 ? undefined : monotonicMs(Math.min(...times));
}

/** Returns whether the slices of this driver have to go now. */
export function isGone({ usable, dueAt, othersDueAt }: DriverAbsence, driver: string, now: MonotonicMs): boolean {
  if (usable.has(driver)) return false;
  const due = dueAt.get(driver) ?? othersDueAt;
  return due !== undefined && due <= now;
}

/** Returns the absence after the slices due at `now` were deleted. */
export const afterDeletion = (absence: DriverAbsence, now: MonotonicMs): DriverAbsence => ({
  ...absence,
  dueAt: new Map([...absence.dueAt].filter(([, due]) => due > now)),
  othersDueAt: absence.othersDueAt !== undefined && absence.othersDueAt > now ? absence.othersDueAt : undefined,
});
