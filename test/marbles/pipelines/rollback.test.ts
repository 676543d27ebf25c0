/** Timing of rollbacks: when the last good version runs, what is on disk before, and what does not wait. */
import { map, type Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Pod, PodStatus } from "../../../src/core/api.ts";
import { epochMs, fullNameOf, podUid } from "../../../src/core/ids.ts";
import type { PodSource, SourceSnapshot } from "../../../src/core/pod/sourceSnapshot.ts";
import { ROLLBACK_AFTER } from "../../../src/core/rollback/rollback.ts";
import { encodeRollback, rollbackFileName } from "../../../src/core/rollback/rollbackFile.ts";
import { rollback } from "../../../src/pipelines/rollback.ts";
import { createNodeState } from "../../../src/state/nodeState.ts";
import { marbles, type Marbles, TEST_EPOCH_MS } from "../../support/marbles.ts";
import { podOf } from "../../support/pods.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const version = (uid: string): Pod => podOf({ uid, annotations: { [ROLLBACK_AFTER]: "1s" } });
const snapshotOf = (uid: string, source: PodSource = "file"): SourceSnapshot => ({
  source,
  pods: [version(uid)],
  problems: [],
});
/** Letters of the versions, and `o` for a snapshot of another source. */
const SNAPSHOTS = { a: snapshotOf("a"), b: snapshotOf("b"), c: snapshotOf("c"), o: snapshotOf("o", "api") };
const READY = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } as unknown as PodStatus;
const FILE = rollbackFileName(fullNameOf(version("a").metadata));

interface World {
  readonly snapshots: string;
  /** When a version becomes Ready. */
  readonly readyAt?: Readonly<Record<string, number>>;
  /** The record of an earlier kubelet. */
  readonly record?: string;
  readonly write?: string;
}

/** Runs a node; its output has the letter of the version that runs, in upper case with an event. */
function run(m: Marbles, { snapshots, readyAt = {}, record, write = "|" }: World) {
  const value = "(v|)";
  const done = " |";

  const state = createNodeState();
  state.runtimeState.set({ ...state.runtimeState.value, runtimeProblems: [] });
  const calls: string[] = [];
  const wall = () => m.clock.monotonicMs();
  const files = {
    list: () => m.cold(value, { v: record === undefined ? [] : [FILE] }),
    readTail: () => m.cold(value, { v: record ?? "" }),
    makeDirectory: () => m.cold(done),
    replaceFile: (_path: string, text: string) => {
      const { good, trial, failed } = JSON.parse(text) as Record<string, { metadata?: { uid: string }; uid?: string }>;
      calls.push(`${wall()} good ${good?.metadata?.uid} trial ${trial?.uid} failed ${failed?.uid}`);
      return m.cold(write);
    },
    remove: () => {
      calls.push(`${wall()} removed`);
      return m.cold(done);
    },
  };
  for (const [uid, at] of Object.entries(readyAt)) m.at(at, () => state.podStatuses.set(podUid(uid), READY));
  const ports = { clock: m.clock, files, telemetry: recordingTelemetry(), machine: { bootId: "boot" } };
  const output$: Observable<string> = rollback(
    { snapshots$: m.hot(snapshots, SNAPSHOTS) },
    ports as unknown as Parameters<typeof rollback>[1],
    { directories: { rootDir: "/root" } } as Parameters<typeof rollback>[2],
    state,
  ).pipe(
    map(({ pods, events = [] }) => {
      const uid = pods[0]?.metadata.uid ?? "-";
      return events.length === 0 ? uid : uid.toUpperCase();
    }),
  );
  return { output$, calls, state };
}

describe("rollback", () => {
  it(
    "runs the good version at the end of the time, not a millisecond before",
    marbles((m) => {
      const snapshots = "a---b 999ms ------";
      const unsub = "    ----- 999ms -----!";
      const expected = " a---b 999ms A-----";

      const { output$, calls, state } = run(m, { snapshots, readyAt: { a: 2 } });
      m.expectObservable(output$, unsub).toBe(expected);
      m.flush();
      expect(calls).toEqual([
        "2 good a trial undefined failed undefined",
        "4 good a trial b failed undefined",
        "1004 good a trial undefined failed b",
      ]);
      expect(state.rollbacks.value.map(({ uid, dueAt }) => [uid, dueAt])).toEqual([["a", undefined]]);
    }),
  );

  it(
    "keeps a version that becomes Ready within its time, and runs no other one",
    marbles((m) => {
      const snapshots = "a---b 2s ------";
      const unsub = "    ----- 2s -----!";
      const expected = " a---b 2s ------";

      const { output$, calls } = run(m, { snapshots, readyAt: { a: 2, b: 1_003 } });
      m.expectObservable(output$, unsub).toBe(expected);
      m.flush();
      expect(calls.at(-1)).toBe("1003 good b trial undefined failed undefined");
    }),
  );

  it(
    "starts the time anew with each change",
    marbles((m) => {
      const snapshots = "a---b 500ms c 999ms -----";
      const unsub = "    ----- 500ms - 999ms ----!";
      const expected = " a---b 500ms c 999ms A----";

      m.expectObservable(run(m, { snapshots, readyAt: { a: 2 } }).output$, unsub).toBe(expected);
    }),
  );

  it(
    "writes the record before the changed version runs",
    marbles((m) => {
      const snapshots = "a---b----------";
      const write = "    -----|         ";
      const unsub = "    --------------!";
      const expected = " a-----------b--";

      // The first write, of the good version, is under way until 7; the second one until 12.
      m.expectObservable(run(m, { snapshots, write, readyAt: { a: 2 } }).output$, unsub).toBe(expected);
    }),
  );

  it(
    "lets the pods run in the end when the disk does not answer",
    marbles((m) => {
      const snapshots = "a---b 9s 995ms ---- 2s ---";
      const write = "    -";
      const unsub = "    ----- 9s 995ms ---- 2s --!";
      const expected = " a---- 9s 995ms --b- 2s ---";

      m.expectObservable(run(m, { snapshots, write, readyAt: { a: 2 } }).output$, unsub).toBe(expected);
    }),
  );

  it(
    "delays no other source",
    marbles((m) => {
      const snapshots = "a---bo---------";
      const write = "    -----|         ";
      const unsub = "    --------------!";
      const expected = " a----o------b--";

      m.expectObservable(run(m, { snapshots, write, readyAt: { a: 2 } }).output$, unsub).toBe(expected);
    }),
  );

  it(
    "goes on with the trial of an earlier kubelet",
    marbles((m) => {
      const snapshots = "b 999ms -----";
      const unsub = "    - 999ms ----!";
      const expected = " b 999ms A----";

      const trial = { uid: "b", startedAt: epochMs(TEST_EPOCH_MS - 5_000), boot: "boot" };
      const record = encodeRollback({ good: version("a"), trial, failed: undefined });
      m.expectObservable(run(m, { snapshots, record }).output$, unsub).toBe(expected);
    }),
  );

  it(
    "runs the good version at once when the changed one has failed before a restart",
    marbles((m) => {
      const snapshots = "b---b--";
      const unsub = "    ------!";
      const expected = " a---a--";

      const failed = { uid: "b", at: epochMs(1), why: "because" };
      const record = encodeRollback({ good: version("a"), trial: undefined, failed });
      m.expectObservable(run(m, { snapshots, record }).output$, unsub).toBe(expected);
    }),
  );
});
