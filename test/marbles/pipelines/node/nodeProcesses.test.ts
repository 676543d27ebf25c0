/** Cgroups and limits of processes: which are written, when, and what a failure does. */
import { defer, EMPTY, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { nodeProcesses } from "../../../../src/pipelines/node/nodeProcesses.ts";
import type { Processes } from "../../../../src/ports/processes.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const MINUTE = 60_000;

/** A machine whose calls answer at once; `root` has the processes of the root cgroup. */
function machine({ clock }: Marbles, root: Set<number>, changed: Partial<Processes> = {}) {
  const calls: string[] = [];
  let own = "/session";
  const call = (line: string, work: () => void = () => undefined) =>
    defer(() => {
      calls.push(`${clock.monotonicMs()} ${line}`);
      work();
      return EMPTY;
    });
  const processes: Processes = {
    ownPid: 7,
    isOnHost: () => of(true),
    cgroupOf: () => defer(() => of(own)),
    inRootCgroup: () => defer(() => of([...root])),
    move: (pid, cgroup) =>
      call(`move ${pid} ${cgroup}`, () => {
        root.delete(pid);
        if (pid === 7) own = cgroup;
      }),
    setOomScoreAdj: (pid, value) => call(`score ${pid} ${value}`),
    setMaxOpenFiles: (pid, count) => call(`files ${pid} ${count}`),
    ...changed,
  };
  return { calls, processes };
}

function run(marble: Marbles, processes: Processes, cgroups: { kubelet?: string; system?: string }, minutes: number) {
  const telemetry = recordingTelemetry();
  const config = {
    nodeCgroups: { kubelet: "", system: "", runtime: "/runtime", ...cgroups },
    ownProcess: { oomScoreAdj: -999, maxOpenFiles: 1000 },
  };
  const running = nodeProcesses({ clock: marble.clock, telemetry, processes }, config).subscribe();
  marble.at(minutes * MINUTE + 1, () => running.unsubscribe());
  marble.flush();
  return telemetry;
}

describe("nodeProcesses", () => {
  it(
    "sets the limit of open files once",
    marbles((marble) => {
      const { calls, processes } = machine(marble, new Set([3, 4]));
      run(marble, processes, {}, 10);
      expect(calls.filter((line) => line.includes("files"))).toEqual(["0 files 7 1000"]);
    }),
  );

  it(
    "sets the score at once and every five minutes",
    marbles((marble) => {
      const { calls, processes } = machine(marble, new Set([3, 4]));
      run(marble, processes, {}, 10);
      const scores = calls.filter((line) => line.includes("score"));
      expect(scores).toEqual(["0 score 7 -999", "300000 score 7 -999", "600000 score 7 -999"]);
    }),
  );

  it(
    "moves no process without configured cgroups",
    marbles((marble) => {
      const { calls, processes } = machine(marble, new Set([3, 4]));
      run(marble, processes, {}, 10);
      expect(calls.length).toBe(4);
      expect(calls.filter((line) => line.includes("move"))).toEqual([]);
    }),
  );

  it(
    "moves the kubelet to its cgroup once",
    marbles((marble) => {
      const { calls, processes } = machine(marble, new Set([3]));
      run(marble, processes, { kubelet: "/kubelet" }, 2);
      expect(calls.filter((line) => line.includes("move"))).toEqual(["0 move 7 /kubelet"]);
    }),
  );

  it(
    "sets the score of a kubelet with a cgroup every minute",
    marbles((marble) => {
      const { calls, processes } = machine(marble, new Set([3]));
      run(marble, processes, { kubelet: "/kubelet" }, 2);
      const scores = calls.filter((line) => line.includes("score"));
      expect(scores).toEqual(["0 score 7 -999", "60000 score 7 -999", "120000 score 7 -999"]);
    }),
  );

  it(
    "moves the processes of the root cgroup, and those that come later within a minute",
    marbles((marble) => {
      const root = new Set([3, 4]);
      const { calls, processes } = machine(marble, root);
      marble.at(30_000, () => root.add(5));
      run(marble, processes, { system: "/system" }, 2);
      expect(calls.filter((line) => line.includes("move"))).toEqual([
        "0 move 3 /system",
        "0 move 4 /system",
        "60000 move 5 /system",
      ]);
    }),
  );

  const busy = { move: () => throwError(() => kubeletError("Io", "busy")) };

  it(
    "tries a process that cannot be moved eleven times a minute",
    marbles((marble) => {
      let tries = 0;
      const move = () =>
        defer(() => {
          tries += 1;
          return busy.move();
        });
      const { processes } = machine(marble, new Set([3]), { move });
      run(marble, processes, { system: "/system" }, 2);
      expect(tries).toBe(33);
    }),
  );

  it(
    "logs once that a process cannot be moved",
    marbles((marble) => {
      const { processes } = machine(marble, new Set([3]), busy);
      const telemetry = run(marble, processes, { system: "/system" }, 2);
      expect(telemetry.lines).toHaveLength(1);
      expect(telemetry.lines[0]).toMatchObject({
        message: "Failed to ensure state of systemCgroups /system",
        fields: { error: { message: 'failed to move PID 3 into the system container "/system": busy' } },
      });
    }),
  );

  it(
    "leaves a kubelet in a container where it is",
    marbles((marble) => {
      const { calls, processes } = machine(marble, new Set(), { isOnHost: () => of(false) });
      run(marble, processes, { kubelet: "/kubelet" }, 2);
      expect(calls).toEqual(["0 files 7 1000", "0 score 7 -999"]);
    }),
  );

  it(
    "warns about limits that it may not set, and continues",
    marbles((marble) => {
      const denied = () => throwError(() => kubeletError("PermissionDenied", "denied"));
      const { calls, processes } = machine(marble, new Set(), { setOomScoreAdj: denied, setMaxOpenFiles: denied });
      const telemetry = run(marble, processes, { kubelet: "/kubelet" }, 5);
      expect(calls).toEqual(["0 move 7 /kubelet"]);
      expect(telemetry.lines).toHaveLength(2);
    }),
  );
});
