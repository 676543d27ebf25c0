import { NEVER, of, throwError } from "rxjs";
import { expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { createShutdownRecord } from "../../../../src/pipelines/shutdown/shutdownRecord.ts";
import type { Files } from "../../../../src/ports/files.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const BEGAN = "kubelet_graceful_shutdown_start_time_seconds";
const ENDED = "kubelet_graceful_shutdown_end_time_seconds";

function recordOn({ clock }: Marbles, files: Partial<Files>, recordsShutdowns = true) {
  const telemetry = recordingTelemetry();
  const config = { directories: { rootDir: "/var/lib/kubelet" } as never, recordsShutdowns };
  const record = createShutdownRecord({ clock, files: files as Files, telemetry }, config);
  const errors = () => telemetry.lines.filter(({ level }) => level === "error").map(({ message }) => message);
  return { record, telemetry, errors };
}

it(
  "has the begin and the end of a shutdown in the file and the metrics, each once",
  marbles((test) => {
    const written: string[] = [];
    const files = { replaceFile: (path: string, text: string) => of(void written.push(`${path} ${text}`)) };
    const { record, telemetry } = recordOn(test, files);
    record.end().subscribe();
    expect(written).toEqual([]);
    test.at(1_000, () => record.begin().subscribe());
    test.at(9_000, () => record.end().subscribe());
    test.at(9_500, () => record.end().subscribe());
    test.flush();
    expect(written.map((text) => text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:/g, ""))).toEqual([
      '/var/lib/kubelet/graceful_node_shutdown_state {"startTime":"01Z","endTime":"00Z"}',
      '/var/lib/kubelet/graceful_node_shutdown_state {"startTime":"01Z","endTime":"09Z"}',
    ]);
    const [began, ended] = [BEGAN, ENDED].map((name) => telemetry.samples.get(name) ?? 0);
    expect((ended ?? 0) - (began ?? 0)).toBe(8);
  }),
);

it(
  "waits for a dead disk two seconds, and no longer",
  marbles((test) => {
    const expected = "2s |";

    const { record, errors } = recordOn(test, { replaceFile: () => NEVER });
    test.expectObservable(record.begin()).toBe(expected);
    test.flush();
    expect(errors()).toEqual(["Failed to store graceful shutdown state"]);
  }),
);

it.each([
  ["no file", throwError(() => kubeletError("NotFound", "none")), []],
  ["a broken file", of("{"), ["Failed to load graceful shutdown state"]],
  ["a full disk", throwError(() => kubeletError("Io", "bad block")), ["Failed to load graceful shutdown state"]],
])("starts with %s", (_, read$, expected) =>
  marbles((test) => {
    const done = "|";

    const { record, errors } = recordOn(test, { readTail: () => read$ });
    test.expectObservable(record.load()).toBe(done);
    test.flush();
    expect(errors()).toEqual(expected);
  })(),
);

it(
  "records nothing without its gate",
  marbles((test) => {
    const done = "|";

    const { record } = recordOn(test, {}, false);
    test.expectObservable(record.begin()).toBe(done);
    test.expectObservable(record.end()).toBe(done);
    test.expectObservable(record.load()).toBe(done);
  }),
);
