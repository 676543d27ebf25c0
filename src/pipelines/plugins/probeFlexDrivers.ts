/**
 * Drivers of flexVolumes: asks each one that is installed or changed about its abilities, and keeps the cell `flexDrivers`.
 * Each has a worker of its own, so a driver that hangs or fails delays no other. Bounds: MAX_DRIVERS, one call to each at a
 * time, INIT_MS per call. Upstream: pkg/volume/flexvolume/probe.go.
 *
 *     hints --> listing --> changes by driver --> worker: init --> cell flexDrivers
 */
import {
  catchError,
  defer,
  EMPTY,
  ignoreElements,
  map,
  type Observable,
  of,
  scan,
  switchMap,
  takeWhile,
  tap,
} from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import { type FlexDriver, type FlexDriverMap, flexOutcome } from "../../core/flex/flexAnswer.ts";
import { followSockets, NO_SOCKETS, type SocketChange } from "../../core/plugins/pluginSockets.ts";
import type { BackoffCurve } from "../../operators/backoffDelay.ts";
import { conflateMap } from "../../operators/conflateMap.ts";
import { deadline } from "../../operators/deadline.ts";
import { eachOf } from "../../operators/eachOf.ts";
import { keyedWorkers } from "../../operators/keyedWorkers.ts";
import { retryWithBackoff } from "../../operators/retryWithBackoff.ts";
import type { FlexDrivers } from "../../ports/flexDrivers.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Cell } from "../../state/cell.ts";

type Ports = Pick<KubeletPorts, "clock" | "rng" | "telemetry" | "flexDrivers">;

export const MAX_DRIVERS = 64;
const INIT_MS = 30_000;
const LISTING_DEADLINE_MS = 10_000;
const WATCH_BACKOFF: BackoffCurve = { initialMs: 200, maxMs: 30_000, jitter: 0.2 };
/** A driver may be in the middle of its installation. */
const INIT_BACKOFF: BackoffCurve = { initialMs: 500, maxMs: 60_000, jitter: 0.2 };

/** Runs while subscribed. Never emits, never errors. */
export function probeFlexDrivers(ports: Ports, cell: Cell<FlexDriverMap>): Observable<never> {
  const { flexDrivers, telemetry } = ports;
  if (flexDrivers === undefined) return EMPTY;
  const set = (name: string, driver: FlexDriver | undefined): void => {
    if (driver === undefined && !cell.value.has(name)) return;
    const next = new Map(cell.value);
    if (driver === undefined) next.delete(name);
    else next.set(name, driver);
    cell.set(next);
    telemetry.log.info(driver === undefined ? "A flexVolume driver is gone" : "A flexVolume driver is known", { name });
  };
  // A driver that is replaced keeps its old abilities until the new program has answered.
  const work = (name: string, change$: Observable<SocketChange>): Observable<unknown> =>
    change$.pipe(
      takeWhile(({ socket }) => socket !== undefined, true),
      switchMap(({ socket }) => (socket === undefined ? of(undefined) : asked(name, ports, flexDrivers))),
      tap((driver) => set(name, driver)),
    );
  return changesOf(ports, flexDrivers).pipe(keyedWorkers({ key: ({ path }) => path, worker: work }), ignoreElements());
}

/** Asks a driver, again until it answers. */
function asked(name: string, ports: Ports, drivers: FlexDrivers): Observable<FlexDriver> {
  const { log } = ports.telemetry;
  return defer(() => drivers.run(name, ["init"], { deadlineMs: INIT_MS })).pipe(
    map((output) => {
      const outcome = flexOutcome("init", output);
      if (outcome.kind === "done") return { name, capabilities: outcome.capabilities };
      throw outcome.kind === "failed" ? outcome.error : new Error("Not supported");
    }),
    retryWithBackoff(INIT_BACKOFF, ports, ({ error, delayMs }) =>
      log.warn("A flexVolume driver does not start", { name, error, delayMs }),
    ),
  );
}

function changesOf(ports: Ports, drivers: FlexDrivers): Observable<SocketChange> {
  const { clock, telemetry } = ports;
  const hints$ = defer(() => drivers.changes$).pipe(
    retryWithBackoff(WATCH_BACKOFF, ports, ({ error, delayMs }) =>
      telemetry.log.warn("The watch of the flexVolume drivers broke", { error, delayMs }),
    ),
  );
  const listing = () =>
    drivers.list().pipe(
      deadline(LISTING_DEADLINE_MS, clock),
      catchError((thrown: unknown) => {
        telemetry.log.warn("Failed to list the flexVolume drivers", { error: toKubeletError(thrown) });
        return EMPTY;
      }),
    );
  return hints$.pipe(
    conflateMap(listing),
    map((found) => found.map(({ driver, stamp }) => ({ path: driver, identity: stamp }))),
    scan((followed, sockets) => {
      const next = followSockets(followed, { sockets, unread: [] }, MAX_DRIVERS);
      if (next.ignored > 0 && next.ignored !== followed.ignored) {
        telemetry.log.error("Too many flexVolume drivers: some are ignored", { ignored: next.ignored });
      }
      return next;
    }, NO_SOCKETS),
    eachOf(({ changes }) => changes),
  );
}
