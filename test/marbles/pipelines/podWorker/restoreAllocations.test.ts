import { concat, map, NEVER, type Observable, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { encodeAllocation, MAX_ALLOCATION_BYTES } from "../../../../src/core/allocation/allocationFile.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { restoreAllocations } from "../../../../src/pipelines/podWorker/restoreAllocations.ts";
import type { Files } from "../../../../src/ports/files.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const RECORD = { allocation: { containers: {} }, resizing: true, hardware: undefined } as unknown as Parameters<
  typeof encodeAllocation
>[0];
const directories = { rootDir: "/k", podLogsDir: "/l", containerLogsDir: "/c" };
const missing = kubeletError("NotFound", "no such file");
const damaged = kubeletError("Io", "input/output error");

/** The pods of the records found in these files, by the pod's UID; the reads and the log beside them. */
function restoring({ clock }: Marbles, files: Readonly<Record<string, Observable<string>>>) {
  const reads: (readonly [string, number])[] = [];
  const telemetry = recordingTelemetry();
  const readTail = (path: string, maxBytes: number) => {
    reads.push([path, maxBytes]);
    return Object.entries(files).find(([uid]) => path.includes(`/${uid}/`))?.[1] ?? throwError(() => missing);
  };
  const ports = { files: { list: () => of(Object.keys(files)), readTail } as unknown as Files, clock, telemetry };
  const restored$ = restoreAllocations(ports, { directories }).pipe(map((found) => [...found.keys()].join(" ")));
  const lines = () =>
    telemetry.lines.map(({ level, message, fields }) => `${level} ${message} ${String(fields["podUid"])}`);
  return { restored$, reads, lines };
}

describe("the allocations of an earlier kubelet", () => {
  it(
    "are read once all files are, and unusable ones are logged and left out",
    marbles((m) => {
      const slow = "    ---(a|)";
      const expected = "---(r|)";

      const text = encodeAllocation(RECORD);
      const { restored$, reads, lines } = restoring(m, {
        a: m.cold(slow, { a: text }),
        b: of(text),
        garbage: of("{"),
        none: throwError(() => missing),
        broken: throwError(() => damaged),
      });
      m.expectObservable(restored$).toBe(expected, { r: "b a" });
      m.flush();
      expect(lines()).toEqual([
        "warn An allocation cannot be used; the pod gets what its spec asks for garbage",
        "warn Cannot read an allocation broken",
      ]);
      expect(new Set(reads.map(([, bytes]) => bytes))).toEqual(new Set([MAX_ALLOCATION_BYTES]));
    }),
  );

  it(
    "keep the node waiting for five seconds at most",
    marbles((m) => {
      const expected = "5s (r|)";

      const { restored$, lines } = restoring(m, { a: of(encodeAllocation(RECORD)), b: concat(NEVER, of("")) });
      m.expectObservable(restored$).toBe(expected, { r: "a" });
      m.flush();
      expect(lines()).toEqual(["warn Not every allocation could be read undefined"]);
    }),
  );

  it(
    "are read from 16 files at once",
    marbles((m) => {
      const read = "    -(a|)";
      const expected = "--(r|)";

      const text = encodeAllocation(RECORD);
      const uids = Array.from({ length: 17 }, (_, index) => `u${index}`);
      const files = Object.fromEntries(uids.map((uid) => [uid, m.cold(read, { a: text })]));
      const { restored$, reads } = restoring(m, files);
      m.expectObservable(restored$).toBe(expected, { r: uids.join(" ") });
      m.at(0, () => expect(reads.length).toBe(16));
    }),
  );
});
