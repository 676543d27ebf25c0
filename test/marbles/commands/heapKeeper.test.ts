import { expect, it } from "vitest";
import { keepHeap } from "../../../src/commands/heapKeeper.ts";
import type { HeapReading } from "../../../src/core/memory/heapPace.ts";
import { marbles } from "../../support/marbles.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const MIB = 1_048_576;
const CALM: HeapReading = { committedBytes: 40 * MIB, busyPart: 0 };
const BUSY: HeapReading = { committedBytes: 80 * MIB, busyPart: 0.8 };
const LARGE: HeapReading = { committedBytes: 80 * MIB, busyPart: 0 };
/** Looks until a process is no longer busy, and until its heap is trimmed. */
const [BUSY_LOOKS, PATIENCE_LOOKS] = [10, 25];

it(
  "tells the heap at each reading whether the process is busy, and trims it once it is calm",
  marbles(({ cold, expectObservable, flush }) => {
    const readings = `c-b-${"l".repeat(PATIENCE_LOOKS)}c-`;
    const unsub = "   30ms !";
    const expected = "-";

    const done: string[] = [];
    const heap = {
      setBusy: (isBusy: boolean) => void done.push(isBusy ? "busy" : "calm"),
      trim: () => void done.push("trim"),
    };
    const readings$ = cold(readings, { c: CALM, b: BUSY, l: LARGE });
    expectObservable(keepHeap(readings$, heap, recordingTelemetry()), unsub).toBe(expected);
    flush();
    const after = Array.from({ length: PATIENCE_LOOKS }, (_, look) => (look + 1 < BUSY_LOOKS ? "busy" : "calm"));
    expect(done).toEqual(["calm", "busy", ...after, "trim", "calm"]);
  }),
);
