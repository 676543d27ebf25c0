import { map } from "rxjs";
import { describe, expect, it } from "vitest";
import type { ManifestProblem, SourceSnapshot } from "../../../src/core/pod/sourceSnapshot.ts";
import { podConfig, type PodConfigOutput } from "../../../src/pipelines/podConfig.ts";
import { createNodeState } from "../../../src/state/nodeState.ts";
import { type MarbleSource, marbles } from "../../support/marbles.ts";
import { podOf } from "../../support/pods.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const snapshot = (uids: readonly string[], more: Partial<SourceSnapshot> = {}): SourceSnapshot => ({
  source: "file",
  pods: uids.map((uid) => podOf({ uid, name: uid })),
  problems: [],
  ...more,
});
const problem = (reason: string, more: Partial<ManifestProblem> = {}): ManifestProblem => ({
  severity: "error",
  origin: "/manifests/a.yaml",
  line: 3,
  field: "spec",
  reason,
  pod: { name: "a", namespace: "demo", uid: "a" },
  ...more,
});

function short(output: PodConfigOutput): string {
  switch (output.kind) {
    case "update":
      return `${output.update.op} ${output.update.pods.map(({ metadata }) => metadata.uid).join(",")}`;
    case "event":
      return `${output.event.reason}: ${output.event.message}`;
    case "seen":
      return "seen";
  }
}

const ALL_GATES = {
  containerRestartRules: true,
  restartAllContainers: true,
  hostnameOverride: true,
  stopSignals: true,
  envFiles: true,
};

function follow(snapshots$: MarbleSource<SourceSnapshot>, podFieldGates = ALL_GATES) {
  const state = createNodeState();
  const telemetry = recordingTelemetry();
  return {
    state,
    telemetry,
    output$: podConfig({ snapshots$ }, { telemetry }, { podFieldGates }, state).pipe(map(short)),
  };
}

describe("podConfig", () => {
  it(
    "emits the differences, and once per source that it has reported",
    marbles(({ hot, expectObservable, flush }) => {
      const snapshots = "a-----b-----c";
      const unsub = "    16ms !";
      const expected = " (as)--(bs)--(cd)";

      const snapshots$ = hot(snapshots, {
        a: snapshot(["x", "y"]),
        b: snapshot(["z"], { source: "http" }),
        c: snapshot(["y", "w"]),
      });
      const { output$, state } = follow(snapshots$);
      expectObservable(output$, unsub).toBe(expected, {
        a: "ADD x,y",
        b: "ADD z",
        c: "REMOVE x",
        d: "ADD w",
        s: "seen",
      });
      flush();
      expect([...state.sourcesSeen.value]).toEqual(["file", "http"]);
    }),
  );

  it(
    "ignores fields that a disabled feature gate removes",
    marbles(({ hot, expectObservable }) => {
      const snapshots = "a-----b-----c";
      const unsub = "    16ms !";
      const expected = " (as)--------c";

      const named = (...names: readonly string[]) => {
        const [pod] = snapshot(["x"]).pods;
        if (pod === undefined) throw new Error("no pod");
        const [hostnameOverride = "a", hostname = "b"] = names;
        return { ...snapshot([]), pods: [{ ...pod, spec: { ...pod.spec, hostnameOverride, hostname } }] };
      };
      const snapshots$ = hot(snapshots, { a: named(), b: named("other"), c: named("other", "other") });
      const { output$ } = follow(snapshots$, { ...ALL_GATES, hostnameOverride: false });
      expectObservable(output$, unsub).toBe(expected, { a: "ADD x", s: "seen", c: "UPDATE x" });
    }),
  );

  it(
    "does not count a source that could not be read once as seen: nothing may be removed because of it",
    marbles(({ hot, expectObservable, flush }) => {
      const snapshots = "a-----b-----";
      const unsub = "    12ms !";
      const expected = " ------(bs)";

      const unread = snapshot([], { ready: false, problems: [problem("cannot be read", { pod: undefined })] });
      const snapshots$ = hot(snapshots, { a: unread, b: snapshot(["x"]) });
      const { output$, state, telemetry } = follow(snapshots$);
      const seenBefore: number[] = [];
      expectObservable(output$.pipe(map((said) => (seenBefore.push(state.sourcesSeen.value.size), said))), unsub).toBe(
        expected,
        { b: "ADD x", s: "seen" },
      );
      flush();
      expect([seenBefore, telemetry.lines.map(({ message }) => message)]).toEqual([[1, 1], ["Manifest problem"]]);
    }),
  );

  it(
    "reports a problem once, in log, metric and event, until it changes or comes back",
    marbles(({ hot, expectObservable, flush }) => {
      const snapshots = "a---b---c---d---a---";
      const unsub = "    20ms !";
      const expected = " (as)----b-------a---";

      const snapshots$ = hot(snapshots, {
        a: snapshot([], { problems: [problem("bad image")] }),
        b: snapshot([], { problems: [problem("bad image")] }),
        c: snapshot([], { problems: [problem("bad image"), problem("bad name", { line: undefined })] }),
        d: snapshot([]),
      });
      const { output$, telemetry } = follow(snapshots$);
      expectObservable(output$, unsub).toBe(expected, {
        a: "FailedValidation: /manifests/a.yaml:3: spec: bad image",
        b: "FailedValidation: /manifests/a.yaml: spec: bad name",
        s: "seen",
      });
      flush();
      expect(telemetry.lines.map(({ level, fields }) => [level, fields["reason"]])).toEqual([
        ["error", "bad image"],
        ["error", "bad name"],
        ["error", "bad image"],
      ]);
      expect([...telemetry.samples]).toEqual([
        ['rxlet_manifest_errors_total{source="file"}', 3],
        ['rxlet_manifest_problems{source="file"}', 1],
      ]);
    }),
  );

  it(
    "reports warnings, and problems of unknown pods, only to log and metrics",
    marbles(({ hot, expectObservable, flush }) => {
      const snapshots = "a";
      const unsub = "    2ms !";
      const expected = " s";

      const problems = [problem("deprecated", { severity: "warning" }), problem("not YAML", { pod: undefined })];
      const { output$, telemetry, state } = follow(hot(snapshots, { a: snapshot([], { problems }) }));
      expectObservable(output$, unsub).toBe(expected, { s: "seen" });
      flush();
      expect(telemetry.lines.map(({ level, fields }) => [level, fields["reason"]])).toEqual([
        ["warn", "deprecated"],
        ["error", "not YAML"],
      ]);
      expect(state.problems.value.get("file")).toEqual(problems);
    }),
  );

  it(
    "keeps problems of one source apart from those of another",
    marbles(({ hot, expectObservable, flush }) => {
      const snapshots = "a---b";
      const unsub = "    10ms !";
      const expected = " (es)(es)";

      const { output$, state } = follow(
        hot(snapshots, {
          a: snapshot([], { problems: [problem("bad")] }),
          b: snapshot([], { source: "http", problems: [problem("bad")] }),
        }),
      );
      const event = "FailedValidation: /manifests/a.yaml:3: spec: bad";
      expectObservable(output$, unsub).toBe(expected, { e: event, s: "seen" });
      flush();
      expect([...state.problems.value.keys()]).toEqual(["file", "http"]);
    }),
  );

  it(
    "updates the cells before it emits",
    marbles(({ hot, expectObservable, flush }) => {
      const snapshots = "a";
      const unsub = "    2ms !";
      const expected = " (aes)";

      const { output$, state } = follow(hot(snapshots, { a: snapshot(["x"], { problems: [problem("bad")] }) }));
      const known: unknown[] = [];
      expectObservable(
        output$.pipe(map((said) => (known.push([state.sourcesSeen.value.size, state.problems.value.size]), said))),
        unsub,
      ).toBe(expected, { a: "ADD x", e: "FailedValidation: /manifests/a.yaml:3: spec: bad", s: "seen" });
      flush();
      expect(known).toEqual([
        [1, 1],
        [1, 1],
        [1, 1],
      ]);
    }),
  );
});
