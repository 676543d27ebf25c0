/**
 * Keeps the process when a callback throws or a promise rejects and no code handles it: one connection or one file is
 * worse off then, not every pod of the node. Only a broken invariant ends the process.
 */
import { ignoreElements, type Observable, tap } from "rxjs";
import { FIRST_PACE, paceLine } from "../core/telemetry/linePace.ts";
import type { Clock } from "../ports/clock.ts";
import type { Telemetry } from "../ports/telemetry.ts";
import { unhandledErrors } from "../sources/unhandledErrors.ts";

/** Limit of log lines: an error may repeat with every turn of the event loop. */
const PACE = { periodMs: 60_000, lines: 10 };

/** Logs each with its stack and counts it. Errors: a broken invariant. */
export function surviveUnhandled({ log, metrics }: Telemetry, clock: Clock): Observable<never> {
  let pace = FIRST_PACE;
  return unhandledErrors().pipe(
    tap(({ kind, error }) => {
      metrics.count("rxlet_unhandled_errors_total", { kind });
      const line = paceLine(pace, clock.monotonicMs(), PACE);
      pace = line.pace;
      if (!line.isWritten) return;
      const more = line.suppressed === 0 ? {} : { suppressed: line.suppressed };
      log.error("An error that no code handles; the kubelet keeps running", { kind, error, ...more });
    }),
    ignoreElements(),
  );
}
