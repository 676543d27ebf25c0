/**
 * Reload of a service: the configuration is read again, and where a new process can start with it, it takes the place of
 * this one; its pods run on. A configuration with faults changes nothing. Upstream: none, a changed configuration needs a
 * restart, which ends in a loop when the configuration is wrong.
 */
import { catchError, concat, defer, exhaustMap, ignoreElements, type Observable, of, switchMap, take } from "rxjs";
import { toKubeletError } from "../core/errors.ts";
import { READY, reloading, statusText, STOPPING } from "../core/systemd/notifications.ts";
import type { Logger } from "../ports/telemetry.ts";

/** Inputs of reloads. */
export interface ReloadSetup {
  /** The manager asks for a reload. */
  readonly hangup$: Observable<unknown>;
  /** Reads the configuration again and emits the reasons why a process cannot start with it, once. */
  readonly faults: () => Observable<readonly string[]>;
  /** The present time of CLOCK_MONOTONIC in microseconds. */
  readonly monotonicMicros: () => bigint;
  /** `manager`: the manager starts the next process, because only it can pass on its sockets. */
  readonly successor: "inPlace" | "manager";
}

/** The process ends for one with the new configuration. */
export interface Restart {
  readonly kind: "restart";
  readonly successor: ReloadSetup["successor"];
}

/** Sends one message and emits whether it was sent. Never errors. */
export type Send = (assignments: readonly string[], deadlineMs?: number) => Observable<boolean>;

/**
 * Emits once, when a reload has found a configuration without faults. `F` are faults, which are logged and shown in the
 * status of the service; `.` are none.
 *
 *     hangup$        --h--------h-----
 *     faults         -----F--------.--
 *     reloads        --------------(r|)
 *
 * Cancels: the reading. Errors: none of its own. Bound: one reload at a time; requests in between are part of it.
 */
export const reloads = (
  { hangup$, faults, monotonicMicros, successor }: ReloadSetup,
  send: Send,
  log: Logger,
): Observable<Restart> =>
  hangup$.pipe(
    exhaustMap(() =>
      concat(
        defer(() => send([...reloading(monotonicMicros()), statusText("Reading the configuration")])).pipe(
          ignoreElements(),
        ),
        defer(faults).pipe(
          catchError((thrown: unknown) => of([toKubeletError(thrown).message])),
          switchMap((found) => (found.length === 0 ? accepted(successor, send, log) : refused(found, send, log))),
        ),
      ),
    ),
    take(1),
  );

function accepted(successor: ReloadSetup["successor"], send: Send, log: Logger): Observable<Restart> {
  log.info("Restarting with the configuration that was read again", { successor });
  const restart: Restart = { kind: "restart", successor };
  if (successor === "inPlace") return of(restart);
  return concat(send([READY, STOPPING, statusText("Restarting")]).pipe(ignoreElements()), of(restart));
}

function refused(faults: readonly string[], send: Send, log: Logger): Observable<never> {
  for (const fault of faults) log.error("The configuration was read again and is refused", { fault });
  const [first = "", ...others] = faults;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return send([READY, statusText(`Configuration refused${more}, the old one holds: ${first}`)]).pipe(ignoreElements());
}
