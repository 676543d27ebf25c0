/** Logs and counts stalls of the event loop, which delay every pod, probe and request of the node. */
import { ignoreElements, type Observable, tap } from "rxjs";
import { FIRST_PACE, paceLine } from "../core/telemetry/linePace.ts";
import type { LoopStall } from "../core/telemetry/loopStalls.ts";
import type { Clock } from "../ports/clock.ts";
import type { Telemetry } from "../ports/telemetry.ts";

const PACE = { periodMs: 60_000, lines: 10 };

/** Counts every stall, and logs each with its stage, at most ten a minute. Never emits or errors. */
export function noticeStalls(stalls$: Observable<LoopStall>, { log, metrics }: Telemetry, clock: Clock) {
  let pace = FIRST_PACE;
  return stalls$.pipe(
    tap(({ kind, stage, owner, durationMs, cpuMs, recent }) => {
      metrics.observe("rxlet_event_loop_stall_seconds", durationMs / 1_000, { stage: kind });
      // Expected: every process loads its modules.
      if (kind === "start") return;
      const line = paceLine(pace, clock.monotonicMs(), PACE);
      pace = line.pace;
      if (!line.isWritten) return;
      log.warn("The event loop stalled", {
        stage,
        durationMs: Math.round(durationMs),
        cpuMs: Math.round(cpuMs),
        ...(owner === undefined ? {} : { onBehalfOf: owner }),
        ...(recent === undefined ? {} : { longestTurns: recent }),
        ...(line.suppressed === 0 ? {} : { suppressed: line.suppressed }),
      });
    }),
    ignoreElements(),
  );
}
