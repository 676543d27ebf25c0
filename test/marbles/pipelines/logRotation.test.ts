import { defer, delay, EMPTY, type Observable, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import { containerId } from "../../../src/core/ids.ts";
import type { PodRuntimeStatus, RuntimeContainer } from "../../../src/core/runtime/podRuntimeStatus.ts";
import { logRotation } from "../../../src/pipelines/logRotation.ts";
import type { RuntimeService } from "../../../src/ports/cri.ts";
import { createSimFiles } from "../../../src/sim/host/simFiles.ts";
import { createSimLogFiles } from "../../../src/sim/host/simLogFiles.ts";
import type { NodeState } from "../../../src/state/nodeState.ts";
import { type Marbles, marbles } from "../../support/marbles.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const DIR = "/var/log/pods/ns_pod_uid/main";
const PERIOD_MS = 10_000;
const CONFIG = { maxBytes: 10, maxFiles: 3, workers: 1, periodMs: PERIOD_MS };
const LARGE = "0123456789";

const container = (log: string, state: RuntimeContainer["state"] = "running"): RuntimeContainer =>
  ({ id: containerId(log), state, logPath: `${DIR}/${log}` }) as RuntimeContainer;

/** A node with these containers and files, rotating until the test ends; a runtime that takes 5 ms to reopen a log. */
function rotating(
  { clock, at, expectObservable }: Marbles,
  options: {
    readonly containers?: readonly RuntimeContainer[];
    readonly files: Readonly<Record<string, string>>;
    readonly config?: Partial<typeof CONFIG>;
    readonly untilMs: number;
    readonly compressionMs?: number;
    readonly reopen?: (path: string, make: () => void) => Observable<object>;
  },
) {
  const expected = "-";

  const files = createSimFiles({ clock });
  const telemetry = recordingTelemetry();
  const reopened: string[] = [];
  const { containers = [container("0.log")] } = options;
  const reopenIn5Ms = (_path: string, make: () => void): Observable<object> =>
    defer(() => {
      make();
      return of({}).pipe(delay(5, clock.scheduler));
    });
  const reopen = options.reopen ?? reopenIn5Ms;
  for (const [name, content] of Object.entries(options.files)) files.put(`${DIR}/${name}`, content);
  const statuses = {
    values: () => [{ containers } as unknown as PodRuntimeStatus],
  } as unknown as NodeState["runtimeStatuses"];
  const runtime = {
    reopenContainerLog: ({ containerId: id }: { readonly containerId: string }) =>
      defer(() => {
        reopened.push(`${clock.scheduler.now()} ${id}`);
        return reopen(`${DIR}/${id}`, () => files.put(`${DIR}/${id}`, ""));
      }),
  } as unknown as RuntimeService;
  const ports = {
    clock,
    files,
    logFiles: createSimLogFiles({ clock, files, compressionMs: options.compressionMs ?? 100 }),
    runtime,
    telemetry,
  };
  const rotation$ = logRotation(ports, { ...CONFIG, ...options.config }, { runtimeStatuses: statuses });
  expectObservable(rotation$, `${options.untilMs}ms !`).toBe(expected);
  const found = (): Readonly<Record<string, string>> => {
    const paths = files.paths().filter((path) => path.startsWith(`${DIR}/`));
    return Object.fromEntries(paths.map((path) => [path.slice(DIR.length + 1), files.read(path) ?? ""]));
  };
  return { files, telemetry, reopened, found, at };
}

describe("logRotation", () => {
  it(
    "renames a log that is large enough, and makes the runtime reopen it",
    marbles((m) => {
      const node = rotating(m, { files: { "0.log": "012345678" }, untilMs: 25_000 });
      m.at(15_000, () => node.files.put(`${DIR}/0.log`, LARGE));
      m.flush();
      expect(node.found()).toEqual({ "0.log": "", "0.log.20260101-000020": LARGE });
      expect(node.telemetry.samples.get('rxlet_log_rotations_total{result="ok"}')).toBe(1);
    }),
  );

  const stamp = (n: number): string => `0.log.20251231-00000${n}`;

  it(
    "compresses the log of the previous rotation",
    marbles((m) => {
      const node = rotating(m, { files: { [stamp(3)]: "3", "0.log": LARGE }, untilMs: 15_000 });
      m.flush();
      expect(node.found()).toEqual({ "0.log": "", "0.log.20260101-000000": LARGE, [`${stamp(3)}.gz`]: "3" });
    }),
  );

  it(
    "removes the oldest logs",
    marbles((m) => {
      const old = { [`${stamp(1)}.gz`]: "1", [`${stamp(2)}.gz`]: "2", [stamp(3)]: "3" };
      const node = rotating(m, { files: { ...old, "0.log": LARGE }, untilMs: 15_000 });
      m.flush();
      expect(Object.keys(node.found())).toEqual(["0.log", `${stamp(3)}.gz`, "0.log.20260101-000000"]);
    }),
  );

  it(
    "removes what a failed compression left behind, and no log of another container",
    marbles((m) => {
      const left = { [`${stamp(1)}.gz`]: "1", [stamp(1)]: "1", [stamp(3)]: "3", [`${stamp(3)}.tmp`]: "x" };
      const node = rotating(m, { files: { ...left, "0.log": LARGE, "1.log": "other" }, untilMs: 15_000 });
      m.flush();
      expect(node.found()).toEqual({
        "0.log": "",
        "0.log.20260101-000000": LARGE,
        [`${stamp(3)}.gz`]: "3",
        "1.log": "other",
      });
    }),
  );

  it(
    "rotates during a slow compression, and skips logs that were removed meanwhile",
    marbles((m) => {
      const node = rotating(m, { files: { "0.log": LARGE }, compressionMs: 25_000, untilMs: 60_000 });
      for (const second of [5, 15, 25, 35, 45]) m.at(second * 1_000, () => node.files.put(`${DIR}/0.log`, LARGE));
      m.flush();
      const seconds = node.reopened.map((call) => Math.floor(Number(call.split(" ")[0]) / 1_000));
      expect(seconds).toEqual([0, 10, 20, 30, 40, 50]);
      expect([Object.keys(node.found()).length <= 4, node.telemetry.lines]).toEqual([true, []]);
    }),
  );

  it(
    "leaves alone what no container writes to",
    marbles((m) => {
      const containers = [container("0.log", "exited"), container("1.log", "created")];
      const files = { "0.log": LARGE, "1.log": LARGE };
      const node = rotating(m, { containers, files, untilMs: 25_000 });
      m.flush();
      expect([node.found(), node.reopened]).toEqual([files, []]);
    }),
  );

  it(
    "moves the log back when the runtime opens no other, and tries again",
    marbles((m) => {
      let calls = 0;
      const node = rotating(m, {
        files: { "0.log": LARGE },
        untilMs: 15_000,
        reopen: (_path, make) => {
          calls += 1;
          if (calls === 1) return throwError(() => kubeletError("Unavailable", "away"));
          make();
          return of({});
        },
      });
      m.at(5_000, () => expect(node.found()).toEqual({ "0.log": LARGE }));
      m.flush();
      expect(node.found()).toEqual({ "0.log": "", "0.log.20260101-000010": LARGE });
      expect(node.telemetry.lines).toMatchObject([
        { level: "error", message: "Failed to rotate log for container", fields: { path: `${DIR}/0.log` } },
      ]);
    }),
  );

  it(
    "keeps both files when the runtime opened another and its answer was lost",
    marbles((m) => {
      const node = rotating(m, {
        files: { "0.log": LARGE },
        untilMs: 5_000,
        reopen: (_path, make) => {
          make();
          return throwError(() => kubeletError("DeadlineExceeded", "no answer"));
        },
      });
      m.flush();
      expect(node.found()).toEqual({ "0.log": "", "0.log.20260101-000000": LARGE });
    }),
  );

  it(
    "reopens a missing log, and logs an error when none appears",
    marbles((m) => {
      const containers = [container("0.log"), container("1.log")];
      const node = rotating(m, {
        containers,
        files: { "other.log": "" },
        untilMs: 5_000,
        reopen: (path, make) => {
          if (path.endsWith("0.log")) make();
          return EMPTY;
        },
      });
      m.flush();
      expect(node.reopened).toEqual(["0 0.log", "0 1.log"]);
      expect(node.found()).toEqual({ "0.log": "", "other.log": "" });
      expect(node.telemetry.lines.map(({ fields }) => fields["error"])).toMatchObject([
        { message: `the runtime opened no log at ${DIR}/1.log` },
      ]);
    }),
  );

  it.each([
    [1, ["0 0.log", "5 1.log", "10 2.log"]],
    [2, ["0 0.log", "0 1.log", "5 2.log"]],
  ])("rotates with %i workers as many logs at once", (workers, reopened) => {
    marbles((m) => {
      const names = ["0.log", "1.log", "2.log"];
      const node = rotating(m, {
        containers: names.map((name) => container(name)),
        files: Object.fromEntries(names.map((name) => [name, LARGE])),
        config: { workers },
        untilMs: 5_000,
      });
      m.flush();
      expect(node.reopened).toEqual(reopened);
    })();
  });

  it(
    "does nothing without a configuration",
    marbles(({ expectObservable, clock }) => {
      const expected = "|";

      const ports = { clock } as Parameters<typeof logRotation>[0];
      expectObservable(logRotation(ports, undefined, {} as Pick<NodeState, "runtimeStatuses">)).toBe(expected);
    }),
  );
});
