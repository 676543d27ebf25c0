/**
 * Follows the login manager: the delay that it allows, whether the machine is about to shut down, and the lock that delays
 * a shutdown. Upstream: start and acquireInhibitLock of nodeshutdown_manager_linux.go, which gives up after a failure at
 * start. Differs from upstream: that is tried again, because the login manager may start later.
 */
import {
  concat,
  distinctUntilChanged,
  EMPTY,
  ignoreElements,
  type Observable,
  repeat,
  switchMap,
  take,
  tap,
  throwError,
  filter,
  defaultIfEmpty,
} from "rxjs";
import { formatDuration } from "../../core/config/duration.ts";
import { type KubeletError, kubeletError } from "../../core/errors.ts";
import { shutdownSeconds } from "../../core/shutdown/shutdownPeriods.ts";
import { longTimer } from "../../operators/longTimer.ts";
import { supervise } from "../../operators/supervise.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logind } from "../../ports/logind.ts";
import type { ShutdownContext } from "./shutdownContext.ts";

/** Upstream's dbusReconnectPeriod first, then less often. */
const BACKOFF = { initialMs: 1_000, maxMs: 60_000, jitter: 0.1, resetAfterMs: 60_000 };
const MS_PER_SECOND = 1_000;
/** The login manager reads its settings a little after the request to do so. */
const REREADS = 10;
const REREAD_MS = 200;

type Followed = Pick<ShutdownContext, "ports" | "config">;

/** Emits whether the machine is about to shut down, the last answer again after a failure. Never errors. */
export function watchShutdowns(
  logind: Logind,
  { ports: { clock, rng, telemetry }, config }: Followed,
): Observable<boolean> {
  const seconds = shutdownSeconds(config.shutdownPeriods);
  let isWatched = false;
  let said: string | undefined;
  return supervise(
    "logind",
    () =>
      concat(raiseDelay(logind, seconds, clock), logind.shutdowns()).pipe(
        tap(() => {
          isWatched = true;
          said = undefined;
        }),
      ),
    {
      backoff: BACKOFF,
      clock,
      rng,
      onRestart({ error }) {
        // A host without a login manager fails in the same way each time.
        if (error.message === said) return;
        said = error.message;
        const what = isWatched
          ? "Unable to watch the node for shutdown events"
          : "Failed to start node shutdown manager";
        telemetry.log.error(what, { error });
      },
    },
  );
}

/** Makes the login manager allow a delay of this many seconds, and completes. Errors when it does not. */
function raiseDelay(logind: Logind, seconds: number, clock: Clock): Observable<never> {
  const wantedMs = seconds * MS_PER_SECOND;
  return logind
    .inhibitDelayMs()
    .pipe(
      switchMap((ms) =>
        ms >= wantedMs
          ? EMPTY
          : concat(
              logind.overrideInhibitDelay(seconds).pipe(ignoreElements()),
              logind.reload().pipe(ignoreElements()),
              raised(logind, wantedMs, clock),
            ),
      ),
    );
}

function raised(logind: Logind, wantedMs: number, clock: Clock): Observable<never> {
  let lastMs = 0;
  return logind.inhibitDelayMs().pipe(
    tap((ms) => {
      lastMs = ms;
    }),
    repeat({ count: REREADS, delay: () => longTimer(clock, REREAD_MS) }),
    filter((ms) => ms >= wantedMs),
    take(1),
    defaultIfEmpty(undefined),
    switchMap((ms) => (ms === undefined ? throwError(() => tooShort(wantedMs, lastMs)) : EMPTY)),
  );
}

const tooShort = (wantedMs: number, lastMs: number): KubeletError =>
  kubeletError(
    "Unavailable",
    `node shutdown manager was unable to update logind InhibitDelayMaxSec to ${formatDuration(wantedMs)} ` +
      `(ShutdownGracePeriod), current value of InhibitDelayMaxSec (${formatDuration(lastMs)}) is less than requested ` +
      "ShutdownGracePeriod",
  );

/** Holds the lock while it is wanted; takes a lost one again. Never emits, never errors. */
export const heldLock = (
  logind: Logind,
  isWanted: Observable<boolean>,
  { ports: { clock, rng, telemetry } }: Followed,
): Observable<never> =>
  isWanted.pipe(
    distinctUntilChanged(),
    switchMap((wanted) => {
      if (!wanted) return EMPTY;
      let said: string | undefined;
      return supervise("inhibitor lock", () => logind.inhibit(), {
        backoff: BACKOFF,
        clock,
        rng,
        onRestart({ error }) {
          if (error.message !== said) telemetry.log.error("Cannot delay a shutdown of the node", { error });
          said = error.message;
        },
      });
    }),
    ignoreElements(),
  );
