/** The heap of this process, and how busy its event loop is. */
import { performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { defer, type Observable, of } from "rxjs";
import type { HeapReading } from "../core/memory/heapPace.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import type { Clock } from "../ports/clock.ts";

const LOOK_MS = 1_000;

/** Emits a reading every second. Cancels: the timer. Errors: none. Bound: one timer. */
export const heapReadings = (clock: Clock): Observable<HeapReading> =>
  defer(() => {
    let before = performance.eventLoopUtilization();
    const look = (): Observable<HeapReading> => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      return of({ committedBytes: getHeapStatistics().total_heap_size, busyPart: utilization });
    };
    return pollAfter(clock, LOOK_MS, look, { immediately: false });
  });
