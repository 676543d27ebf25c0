/**
 * The Cgroups port as slices of systemd: it makes and removes the units and is told their limits, which are written to
 * the cgroup files as well, since there is no property for everything. Keeps no state. Bounds: a unit has 30 seconds to
 * start and to stop. Counterpart: cgroup managers of opencontainers/cgroups/systemd, for slices.
 */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  endWith,
  ignoreElements,
  map,
  type Observable,
  of,
  switchMap,
  throwError,
} from "rxjs";
import { kubeletError } from "../core/errors.ts";
import { hasSlice, parseChildSlice, slicePath, sliceUnit } from "../core/resources/cgroupDriver.ts";
import {
  sliceLimits,
  sliceProperties,
  type SystemdHost,
  type UnitProperty,
} from "../core/resources/systemdProperties.ts";
import { longTimer } from "../operators/longTimer.ts";
import { orElse } from "../operators/orElse.ts";
import type { Call } from "../ports/call.ts";
import type { Cgroups } from "../ports/cgroup.ts";
import type { Clock } from "../ports/clock.ts";
import type { Systemd } from "../ports/systemd.ts";

/** What it is made of. */
export interface SystemdCgroupsOptions {
  readonly systemd: Systemd;
  readonly host: SystemdHost;
  /** Cgroups on the file system, by path. */
  readonly files: Cgroups;
  readonly clock: Clock;
}

const FIRST_POLL_MS = 20;
const LONGEST_POLL_MS = 1_000;
/** 30 seconds at these paces, as long as upstream waits for a job. */
const POLLS = 35;

const runs = (state: string): boolean => state === "active";
const hasEnded = (state: string): boolean => state === "inactive" || state === "failed";

/** Cgroups of a node whose cgroups are systemd's. Errors: those of `systemd` and `files`, and DeadlineExceeded. */
export function createSystemdCgroups({ systemd, host, files, clock }: SystemdCgroupsOptions): Cgroups {
  const forget = (unit: string): Observable<never> =>
    systemd.resetFailedUnit(unit).pipe(
      ignoreElements(),
      // Only what failed can be forgotten.
      orElse(() => EMPTY),
    );

  /** Completes once `isDone`; `verb` is what systemd is to do. */
  const settled = (unit: string, verb: string, isDone: (state: string) => boolean, polls = 0): Observable<never> =>
    systemd.unitState(unit).pipe(
      switchMap((state) => {
        if (isDone(state)) return EMPTY;
        if (polls === POLLS) {
          const late = kubeletError("DeadlineExceeded", `systemd does not ${verb} ${unit}: it is ${state}`);
          return concat(
            forget(unit),
            throwError(() => late),
          );
        }
        const pauseMs = Math.min(FIRST_POLL_MS * 2 ** polls, LONGEST_POLL_MS);
        return longTimer(clock, pauseMs).pipe(switchMap(() => settled(unit, verb, isDone, polls + 1)));
      }),
    );

  /** A unit that is there, because of a unit file, a child or an earlier life, is started as it is. */
  const startKnown = (unit: string, refused: unknown): Observable<never> =>
    systemd.unitState(unit).pipe(
      switchMap((state) => {
        if (runs(state)) return EMPTY;
        return concat(
          systemd.startUnit(unit).pipe(orElse(() => throwError(() => refused))),
          settled(unit, "start", runs),
        );
      }),
      ignoreElements(),
    );

  /** Made with its limits, or told them if it is there: systemd has no word for both, and a start is not to wait. */
  const ensureUnit = (name: string, unit: string, limits: readonly UnitProperty[]): Observable<never> =>
    systemd.startTransientUnit(unit, [...sliceProperties(name, host), ...limits]).pipe(
      ignoreElements(),
      endWith({ refused: undefined }),
      catchError((refused: unknown) => of({ refused })),
      switchMap(({ refused }) => {
        if (refused === undefined) return settled(unit, "start", runs);
        return concat(
          startKnown(unit, refused),
          limits.length === 0 ? EMPTY : systemd.setUnitProperties(unit, limits).pipe(ignoreElements()),
        );
      }),
    );

  const stop = (unit: string): Observable<never> =>
    concat(
      systemd.stopUnit(unit).pipe(
        // It may have gone by itself.
        catchError((refused: unknown) =>
          systemd.unitState(unit).pipe(switchMap((state) => (hasEnded(state) ? EMPTY : throwError(() => refused)))),
        ),
      ),
      settled(unit, "stop", hasEnded),
      forget(unit),
    ).pipe(ignoreElements());

  return {
    ensure: (name, resources): Call<void> =>
      defer(() => {
        if (!hasSlice(name)) {
          throw kubeletError("InvalidArgument", `cgroup ${name} cannot be a systemd slice: it has "_"`);
        }
        const unit = sliceUnit(name);
        const { properties, limits } = sliceLimits(resources, host);
        return concat(ensureUnit(name, unit, properties), files.ensure(slicePath(name), limits)).pipe(ignoreElements());
      }),
    update: (name, resources): Call<void> =>
      defer(() => {
        const path = slicePath(name);
        const { properties, limits } = sliceLimits(resources, host);
        const told = properties.length === 0 ? EMPTY : systemd.setUnitProperties(sliceUnit(name), properties);
        // Without limits nothing is written: systemd hears of a unit only once its cgroup is known to be there.
        return concat(files.update(path, {}), told, files.update(path, limits)).pipe(ignoreElements());
      }),
    destroy: (name): Call<void> =>
      defer(() => {
        if (!hasSlice(name)) return EMPTY;
        const unit = sliceUnit(name);
        const stopped = systemd.unitState(unit).pipe(switchMap((state) => (state === "inactive" ? EMPTY : stop(unit))));
        return concat(stopped, files.destroy(slicePath(name))).pipe(ignoreElements());
      }),
    list: (name) =>
      files.list(slicePath(name)).pipe(
        map((directories) =>
          directories
            .map((directory) => parseChildSlice(name, directory))
            .filter((child) => child !== undefined)
            .sort(),
        ),
      ),
  };
}
