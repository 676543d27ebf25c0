/**
 * Creates and stops slice units of systemd, and waits until they have started or ended. Keeps no state. Bounds: 30
 * seconds for a unit to start and to stop. Upstream: startUnit and stopUnit of opencontainers/cgroups/systemd.
 */
import { catchError, concat, EMPTY, endWith, ignoreElements, type Observable, of, switchMap, throwError } from "rxjs";
import { kubeletError } from "../core/errors.ts";
import { sliceProperties, type SystemdHost, type UnitProperty } from "../core/resources/systemdProperties.ts";
import { longTimer } from "../operators/longTimer.ts";
import { orElse } from "../operators/orElse.ts";
import type { Clock } from "../ports/clock.ts";
import type { Systemd } from "../ports/systemd.ts";

/** Dependencies of the operations. */
export interface SliceUnitsOptions {
  readonly systemd: Systemd;
  readonly host: SystemdHost;
  readonly clock: Clock;
}

const FIRST_POLL_MS = 20;
const LONGEST_POLL_MS = 1_000;
/** Polling intervals, 30 seconds in total, as long as upstream waits for a job. */
const POLLS = 35;

const runs = (state: string): boolean => state === "active";
const hasEnded = (state: string): boolean => state === "inactive" || state === "failed";

/** Creates the operations. Errors: those of `systemd`, and DeadlineExceeded. */
export function createSliceUnits({ systemd, host, clock }: SliceUnitsOptions) {
  const forget = (unit: string): Observable<never> =>
    systemd.resetFailedUnit(unit).pipe(
      ignoreElements(),
      // systemd can only reset failed units.
      orElse(() => EMPTY),
    );

  /** Completes when `isDone`; `verb` names the operation of systemd in errors. */
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

  /** Starts an existing unit unchanged; it exists because of a unit file, a child or an earlier kubelet. */
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

  /**
   * Creates the unit with its limits, or sets them on an existing unit. systemd has no single call for both, and a
   * start must not wait.
   */
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
        // The unit may have stopped on its own.
        catchError((refused: unknown) =>
          systemd.unitState(unit).pipe(switchMap((state) => (hasEnded(state) ? EMPTY : throwError(() => refused)))),
        ),
      ),
      settled(unit, "stop", hasEnded),
      forget(unit),
    ).pipe(ignoreElements());

  return {
    ensure: ensureUnit,
    stop,
  };
}
