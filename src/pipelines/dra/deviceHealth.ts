/**
 * Follows the health of the devices of each connected driver. Owner of the cell `deviceHealths`. Bounds: a stream per
 * driver, MAX_HEALTHS devices of each; reports closer together than 200 ms count as one. A stream that ends is opened
 * again after 5 s. Upstream: HandleWatchResourcesStream.
 */
import {
  auditTime,
  catchError,
  concat,
  EMPTY,
  from,
  ignoreElements,
  map,
  NEVER,
  type Observable,
  of,
  scan,
  switchMap,
  takeWhile,
  tap,
} from "rxjs";
import {
  type DeviceHealths,
  type DriverHealth,
  firstInvalidAt,
  saysSame,
  stillValid,
  withReport,
} from "../../core/dra/deviceHealth.ts";
import { toKubeletError } from "../../core/errors.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { keyedWorkers } from "../../operators/keyedWorkers.ts";
import { longTimer } from "../../operators/longTimer.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import type { DraDriver, DraDriverMap } from "../../ports/draDrivers.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Cell, ReadonlyCell } from "../../state/cell.ts";

const PACE_MS = 200;
const REOPEN_MS = 5_000;
const NOTHING: DriverHealth = new Map();

type Ports = Pick<KubeletPorts, "clock" | "telemetry">;

interface DriverChange {
  readonly name: string;
  /** Undefined: it is gone, or not connected. */
  readonly driver: DraDriver | undefined;
}

/** Runs while subscribed; never emits, never errors. */
export function deviceHealth(
  ports: Ports,
  { draGates }: Pick<KubeletConfig, "draGates">,
  drivers: ReadonlyCell<DraDriverMap>,
  healths: Cell<DeviceHealths>,
): Observable<never> {
  if (!draGates.health) return EMPTY;
  const set = (name: string, health: DriverHealth): void => {
    const known = healths.value.get(name) ?? NOTHING;
    if (saysSame(known, health)) return;
    const others = [...healths.value].filter(([other]) => other !== name);
    healths.set(new Map(health.size === 0 ? others : [...others, [name, health]]));
  };
  return driverChanges(drivers.changes$).pipe(
    keyedWorkers<DriverChange, string, DriverHealth>({
      key: ({ name }) => name,
      worker: (name, changes$) =>
        changes$.pipe(
          takeWhile(({ driver }) => driver !== undefined, true),
          switchMap(({ driver }) => (driver === undefined ? of(NOTHING) : healthOf(driver, ports))),
          tap((health) => set(name, health)),
        ),
    }),
    ignoreElements(),
  );
}

/** Emits the drivers that came, changed or went; a driver without a connection counts as gone. */
function driverChanges(drivers$: Observable<DraDriverMap>): Observable<DriverChange> {
  let known: DraDriverMap = new Map();
  return drivers$.pipe(
    switchMap((drivers) => {
      const before = known;
      known = new Map([...drivers].filter(([, { isConnected }]) => isConnected));
      const gone = [...before.keys()].filter((name) => !known.has(name)).map((name) => ({ name, driver: undefined }));
      const news = [...known].filter(([name, driver]) => before.get(name) !== driver);
      return from<DriverChange[]>([...gone, ...news.map(([name, driver]) => ({ name, driver }))]);
    }),
  );
}

/** Emits the health of the devices of a driver; a driver without the service has none. */
function healthOf(driver: DraDriver, { clock, telemetry }: Ports): Observable<DriverHealth> {
  let hasService = true;
  const stream = (): Observable<DriverHealth> =>
    hasService
      ? concat(
          driver.health$.pipe(
            auditTime(PACE_MS, clock.scheduler),
            scan(
              (known, report) => withReport(stillValid(known, clock.monotonicMs()), report, clock.monotonicMs()),
              NOTHING,
            ),
            switchMap(untilInvalid),
            catchError((thrown: unknown) => {
              const error = toKubeletError(thrown);
              if (error.code === "Unimplemented") hasService = false;
              else telemetry.log.warn("The health stream of a DRA driver broke", { driver: driver.name, error });
              return EMPTY;
            }),
          ),
          // The health of these devices is unknown from here on.
          of(NOTHING),
        )
      : NEVER;
  const untilInvalid = (known: DriverHealth): Observable<DriverHealth> => {
    const at = firstInvalidAt(known);
    if (at === undefined) return of(known);
    const later$ = longTimer(clock, at - clock.monotonicMs()).pipe(
      map(() => stillValid(known, clock.monotonicMs())),
      switchMap(untilInvalid),
    );
    return concat(of(known), later$);
  };
  return pollAfter(clock, REOPEN_MS, stream);
}
