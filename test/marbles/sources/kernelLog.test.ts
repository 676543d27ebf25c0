/** Following a kernel log in virtual time: its end, its overruns, its floods, its failures. */
import { describe, expect, it } from "vitest";
import { map, tap } from "rxjs";
import { kernelLog, type OpenKernelLog } from "../../../src/sources/kernelLog.ts";
import { marbles } from "../../support/marbles.ts";

type Read = string | { readonly errno: string };

/** A log whose reads give these records and errors in turn; more may be pushed while it is open. */
function openLog(...reads: Read[]) {
  let isClosed = false;
  let count = 0;
  const log: OpenKernelLog = {
    read(buffer) {
      expect(isClosed).toBe(false);
      count += 1;
      const next = reads.shift() ?? { errno: "EAGAIN" };
      if (typeof next !== "string") throw Object.assign(new Error("read failed"), { code: next.errno });
      return Buffer.from(buffer.buffer, buffer.byteOffset, buffer.length).write(next);
    },
    close: () => (isClosed = true),
  };
  return { log, reads, closed: () => isClosed, taken: () => count };
}

const record = (sequence: number): string => `6,${sequence},0,-;text ${sequence}`;
const AGAIN = { errno: "EAGAIN" };

describe("kernelLog", () => {
  it(
    "skips the records before its subscription, and polls each second",
    marbles(({ clock, at, expectObservable, flush }) => {
      const unsub = "   3500ms !";
      const expected = "2s (ab)";

      const { log, reads } = openLog(record(1), record(2));
      const texts$ = kernelLog(clock, () => log).pipe(map(({ text }) => text));
      at(1_500, () => reads.push(record(3), record(4)));
      expectObservable(texts$, unsub).toBe(expected, { a: "text 3", b: "text 4" });
      flush();
    }),
  );

  it(
    "closes the log on unsubscribe",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   3500ms !";
      const expected = "-";

      const { log, closed } = openLog();
      expectObservable(
        kernelLog(clock, () => log),
        unsub,
      ).toBe(expected);
      flush();
      expect(closed()).toBe(true);
    }),
  );

  it(
    "continues with the next record after an overrun, a record that is too large, and one that is malformed",
    marbles(({ clock, expectObservable }) => {
      const unsub = "   1500ms !";
      const expected = "1s (ab)";

      const { log } = openLog(
        AGAIN,
        { errno: "EPIPE" },
        record(9),
        { errno: "EINVAL" },
        "malformed",
        record(11),
        AGAIN,
      );
      const sequences$ = kernelLog(clock, () => log).pipe(map(({ sequence }) => sequence));
      expectObservable(sequences$, unsub).toBe(expected, { a: 9, b: 11 });
    }),
  );

  it(
    "reads 256 records per turn of the event loop, then pauses 10 ms",
    marbles(({ clock, at, flush }) => {
      const flood = Array.from({ length: 600 }, (_, index) => record(index));
      const { log, taken } = openLog(...flood);
      const seen: number[] = [];
      const subscription = kernelLog(clock, () => log)
        .pipe(tap(({ sequence }) => seen.push(sequence)))
        .subscribe();
      const counts: number[] = [taken()];
      for (const ms of [9, 11, 21]) at(ms, () => counts.push(taken()));
      at(30, () => subscription.unsubscribe());
      flush();
      expect(counts).toEqual([256, 256, 512, 601]);
      expect(seen).toEqual([]);
    }),
  );

  it(
    "pauses at a device that fails each read in the same way",
    marbles(({ clock, at, flush }) => {
      let reads = 0;
      const failing: OpenKernelLog = {
        read() {
          reads += 1;
          throw Object.assign(new Error("too large"), { code: "EINVAL" });
        },
        close: () => {},
      };
      const subscription = kernelLog(clock, () => failing).subscribe();
      at(95, () => subscription.unsubscribe());
      flush();
      expect(reads).toBe(10 * 256);
    }),
  );

  it(
    "errors with the reason when the log cannot be opened",
    marbles(({ clock, expectObservable }) => {
      const expected = "#";

      const denied$ = kernelLog(clock, () => {
        throw Object.assign(new Error("open failed"), { code: "EPERM" });
      });
      const error = expect.objectContaining({ message: "cannot open /dev/kmsg: EPERM" });
      expectObservable(denied$).toBe(expected, {}, error);
    }),
  );

  it(
    "errors with the reason when the log cannot be read, and closes it",
    marbles(({ clock, expectObservable, flush }) => {
      const expected = "1s #";

      const { log, closed } = openLog(AGAIN, { errno: "EIO" });
      const error = expect.objectContaining({ message: "cannot read /dev/kmsg: EIO" });
      expectObservable(kernelLog(clock, () => log)).toBe(expected, {}, error);
      flush();
      expect(closed()).toBe(true);
    }),
  );
});
