/** Collects the heap of this process at the pace of core/memory/heapPace.ts. */
import { ignoreElements, type Observable, scan, tap } from "rxjs";
import { FIRST_PACE, type HeapReading, nextPace } from "../core/memory/heapPace.ts";
import { inStage } from "../operators/loopStage.ts";
import type { Telemetry } from "../ports/telemetry.ts";

/** The settings of the process's heap. */
export interface NodeHeap {
  /** A busy process collects less often, at the price of memory. */
  setBusy(isBusy: boolean): void;
  /** Frees all that is free. Pauses the process. */
  trim(): void;
}

/** The outcome of a reading. */
type Decided = ReturnType<typeof nextPace> & Pick<HeapReading, "committedBytes">;

/** Keeps the heap while subscribed. Never emits, never errors. */
export function keepHeap(
  readings$: Observable<HeapReading>,
  heap: NodeHeap,
  { log }: Pick<Telemetry, "log">,
): Observable<never> {
  const first: Decided = { pace: FIRST_PACE, trims: false, committedBytes: 0 };
  return readings$.pipe(
    scan(
      ({ pace }, reading): Decided => ({ ...nextPace(pace, reading), committedBytes: reading.committedBytes }),
      first,
    ),
    tap(({ pace, trims, committedBytes }) => {
      heap.setBusy(pace.isBusy);
      if (!trims) return;
      inStage({ kind: "garbage_collection", text: "trim the heap" }, () => heap.trim());
      log.debug("heapKeeper", "Trimmed the heap", { committedBytes });
    }),
    ignoreElements(),
  );
}
