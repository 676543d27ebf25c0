/**
 * Keeps the number of volumes that the node may have of a CSI driver current: asks the driver again in each period of its
 * CSIDriver, and when a volume could not be attached because the node has too many. State: the CSIDrivers, while a driver
 * is registered. Bounds: one question at a time to each driver, one timer for each with a period. Upstream:
 * csi_node_updater.go and updateCSIDriver of pkg/volume/csi.
 *
 *     cell csiDrivers, CSIDrivers --> drivers with a period --one worker each--> NodeGetInfo --> limits
 *                          names of exhausted drivers -------------^
 */
import {
  catchError,
  combineLatest,
  connect,
  distinctUntilChanged,
  EMPTY,
  filter,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  pairwise,
  startWith,
  switchMap,
  takeWhile,
} from "rxjs";
import { type CsiDrivers, maxVolumesOf } from "../../core/csi/csiDriverFacts.ts";
import { type FollowedDriver, followedDrivers } from "../../core/csi/volumeLimit.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { sameValue } from "../../core/sameValue.ts";
import { conflateMap } from "../../operators/conflateMap.ts";
import { eachOf } from "../../operators/eachOf.ts";
import { keyedWorkers } from "../../operators/keyedWorkers.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import type { ClusterObjects } from "../../ports/clusterObjects.ts";
import type { CsiDriverPort } from "../../ports/csiDrivers.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { ReadonlyCell } from "../../state/cell.ts";

/** The current limit of a driver. */
export interface DriverLimit {
  readonly name: string;
  /** Path of the socket of the driver that gave it. */
  readonly endpoint: string;
  /** undefined: no limit. */
  readonly maxVolumes: number | undefined;
}

export interface VolumeLimitsDeps extends Pick<KubeletPorts, "clock" | "telemetry"> {
  readonly port: CsiDriverPort;
  readonly drivers: ReadonlyCell<CsiDrivers>;
  /** undefined on a standalone node: no driver is asked again. */
  readonly csiDrivers$: ClusterObjects["csiDrivers$"] | undefined;
  /** Names of drivers that could not attach a volume because the node has too many. */
  readonly exhausted$: Observable<string>;
}

interface Change {
  readonly name: string;
  /** undefined: its limit is not followed any more. */
  readonly driver: FollowedDriver | undefined;
}

/** Emits each answer about a limit, changed or not. Never errors. */
export const volumeLimits = (deps: VolumeLimitsDeps): Observable<DriverLimit> =>
  deps.exhausted$.pipe(
    connect((exhausted$) =>
      merge(
        // Drops the names of drivers whose limit is not followed.
        exhausted$.pipe(ignoreElements()),
        changes(deps).pipe(
          keyedWorkers<Change, string, DriverLimit>({
            key: ({ name }) => name,
            worker: (_name, changes$) =>
              changes$.pipe(
                takeWhile(({ driver }) => driver !== undefined, true),
                switchMap(({ driver }) => (driver === undefined ? EMPTY : limitsOf(driver, exhausted$, deps))),
              ),
          }),
        ),
      ),
    ),
  );

/** Emits each driver whose socket or period is another one than before. */
function changes({ drivers, csiDrivers$ }: VolumeLimitsDeps): Observable<Change> {
  if (csiDrivers$ === undefined) return EMPTY;
  const known$ = drivers.changes$.pipe(
    map(({ size }) => size > 0),
    distinctUntilChanged(),
    switchMap((hasDrivers) => (hasDrivers ? csiDrivers$ : of(new Map()))),
  );
  return combineLatest([drivers.changes$, known$]).pipe(
    map(([registered, known]) => followedDrivers(registered, known)),
    startWith<ReadonlyMap<string, FollowedDriver>>(new Map()),
    pairwise(),
    eachOf(([before, now]) =>
      [...new Set([...before.keys(), ...now.keys()])]
        .map((name): Change => ({ name, driver: now.get(name) }))
        .filter(({ name, driver }) => !sameValue(before.get(name), driver)),
    ),
  );
}

/** Asks the driver until unsubscribed; a failure is logged, and the next turn asks again. */
function limitsOf(
  driver: FollowedDriver,
  exhausted$: Observable<string>,
  { clock, port, drivers, telemetry }: VolumeLimitsDeps,
): Observable<DriverLimit> {
  const { name, endpoint, periodMs } = driver;
  return merge(
    pollAfter(clock, periodMs, () => of(name), { immediately: false }),
    exhausted$.pipe(filter((exhausted) => exhausted === name)),
  ).pipe(
    conflateMap(() =>
      port
        .at(driver)
        .nodeGetInfo({})
        .pipe(
          map((answer) => {
            const nodeId = drivers.value.get(name)?.nodeId;
            // A CSINode may change in nothing but the count.
            if (nodeId !== answer.nodeId) throw kubeletError("Conflict", "the driver gives the node another ID");
            const maxVolumes = maxVolumesOf(answer);
            if (!maxVolumes.ok) throw maxVolumes.error;
            return { name, endpoint, maxVolumes: maxVolumes.value };
          }),
          catchError((thrown: unknown) => {
            telemetry.log.error("Failed to update CSIDriver", { driver: name, error: toKubeletError(thrown) });
            return EMPTY;
          }),
        ),
    ),
  );
}
