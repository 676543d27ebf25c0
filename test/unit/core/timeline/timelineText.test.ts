import { describe, expect, it } from "vitest";
import { epochMs, monotonicMs, podUid } from "../../../../src/core/ids.ts";
import { emptyTimeline } from "../../../../src/core/timeline/advanceTimeline.ts";
import { ordinal } from "../../../../src/core/timeline/podWaits.ts";
import { timelineText } from "../../../../src/core/timeline/timelineText.ts";
import { NO_VOLUMES } from "../../../../src/core/volume/podVolumes.ts";
import { timelineView, type TimelineView } from "../../../../src/core/timeline/timelineView.ts";
import type { ManifestProblem } from "../../../../src/core/pod/sourceSnapshot.ts";
import { unknownPodMessage } from "../../../../src/core/timeline/unknownPod.ts";

const VIEW: TimelineView = {
  pod: { namespace: "demo", name: "web", uid: "u" },
  state: "syncing",
  stateSince: "T0",
  at: "T9",
  waits: [],
  entries: [],
  dropped: 0,
};

describe("timelineText", () => {
  it("formats waits and entries", () => {
    const view: TimelineView = {
      ...VIEW,
      phase: "Pending",
      waits: [
        { what: "ImagePull", container: "main", cause: "app:1, second in line", seconds: 75.2 },
        { what: "Retry", cause: "no network", seconds: 0.25, next: { what: "next try", at: "T10", inSeconds: 8.04 } },
        { what: "Runtime", cause: "is down" },
      ],
      entries: [
        { at: "T1", what: "Accepted" },
        { at: "T2", what: "RunPodSandbox", seconds: 0.1234, outcome: "failed", message: "no" },
        { at: "T3", what: "Unhealthy", container: "main", outcome: "warning", message: "no", count: 3, lastAt: "T8" },
        { at: "T4", what: "PreStopHook", container: "main", seconds: 7_325, outcome: "cut off" },
      ],
      dropped: 7,
    };
    expect(timelineText(view)).toBe(`demo/web  Pending, syncing since T0  (UID u)

Now, at T9
  main: ImagePull for 75s
    app:1, second in line
  Retry for 0.25s; next try at T10, in 8s
    no network
  Runtime
    is down

So far
  (7 earlier entries are no longer kept)
  T1          Accepted
  T2  0.123s  RunPodSandbox     failed: no
  T3          Unhealthy main    warning: no (3 times, last at T8)
  T4    2h2m  PreStopHook main  cut off
`);
  });

  it("says why a pod was rejected, in one line", () => {
    const why = { reason: "OutOfcpu", message: "Pod was rejected: Node didn't have enough resource:\ncpu" };
    expect(timelineText({ ...VIEW, state: "rejected", phase: "Failed", ...why })).toContain(`Now, at T9
  rejected; it does not run
    OutOfcpu: Pod was rejected: Node didn't have enough resource: cpu
`);
  });

  it.each([
    ["waiting", "waiting to be accepted"],
    ["rejected", "rejected; it does not run"],
    ["syncing", "not waiting for anything"],
    ["terminating", "waiting until the runtime reports no running container"],
    ["terminated", "ended; kept until its manifest or API object is removed"],
    ["gone", "ended and removed"],
  ] as const)("says what it means to wait for nothing while %s", (state, text) => {
    expect(timelineText({ ...VIEW, state }).split("\n")[3]).toBe(`  ${text}`);
  });

  it("shows the problems of the manifest first", () => {
    const problems = [
      { severity: "error", message: "/m/web.yaml:9: spec.nodeName: Forbidden" },
      { severity: "warning", message: "/m/web.yaml:7: spec.x: unknown field, ignored" },
    ] as const;
    expect(
      timelineText({ ...VIEW, problems })
        .split("\n")
        .slice(1, 5),
    ).toEqual([
      "",
      "Problems of its manifest",
      "  error    /m/web.yaml:9: spec.nodeName: Forbidden",
      "  warning  /m/web.yaml:7: spec.x: unknown field, ignored",
    ]);
  });
  it("states that the last good version of the manifest runs", () => {
    const problems = [{ severity: "error", message: "/m/web.yaml: is gone", keepsLastGood: true }] as const;
    expect(timelineText({ ...VIEW, problems }).split("\n")[2]).toBe(
      "Runs the last good version of its manifest, which now has problems",
    );
  });

  it("prints no control characters of messages", () => {
    const entries = [{ at: "T1", what: "Unhealthy", message: "a\u001b[2Jb\nc\u009b" }];
    const waits = [{ what: "Retry", cause: "x\r\u001b]0;y\u0007", seconds: 1 }];
    expect(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/.test(timelineText({ ...VIEW, entries, waits }))).toBe(false);
  });
});

it.each([
  [1, "first"],
  [10, "tenth"],
  [11, "11th"],
  [12, "12th"],
  [21, "21st"],
  [22, "22nd"],
  [103, "103rd"],
  [112, "112th"],
])("place %d is the %s", (place, text) => expect(ordinal(place)).toBe(text));

describe("unknownPodMessage", () => {
  const known = ["default/web-laptop", "demo/app-laptop", "demo/jobs"];
  it.each([
    ["default", "web", "; did you mean default/web-laptop?"],
    ["default", "jobs", "; did you mean demo/jobs?"],
    ["default", "app", "; did you mean demo/app-laptop?"],
    ["default", "wbe-laptop", "; did you mean default/web-laptop?"],
    ["default", "zzzzzzzz", "; its pods are default/web-laptop, demo/app-laptop, demo/jobs"],
  ])("suggests pods for %s/%s", (namespace, name, rest) => {
    expect(unknownPodMessage(namespace, name, known, [])).toBe(`no pod "${namespace}/${name}" on this node${rest}`);
  });
  it("names every pod that matches an ambiguous name", () => {
    expect(unknownPodMessage("default", "web", ["a/web-laptop", "b/web-laptop"], [])).toBe(
      'no pod "default/web" on this node; did you mean a/web-laptop or b/web-laptop?',
    );
  });
  it("reports a node without pods", () => {
    expect(unknownPodMessage("a", "b", [], [])).toBe('no pod "a/b" on this node; it has no pods');
  });
  it("lists ten at most", () => {
    const many = Array.from({ length: 12 }, (_, index) => `ns/${index}`);
    expect(unknownPodMessage("ns", "zzzzzzzz", many, [])).toMatch(/ns\/9 and 2 more$/);
  });

  const problem = (name: string | undefined, line: number): ManifestProblem => ({
    severity: "error",
    origin: "/m/a.yaml",
    line,
    field: "spec.nodeName",
    reason: "Forbidden",
    pod: name === undefined ? undefined : { name, namespace: "default", uid: "" },
  });
  const text = (line: number): string => `/m/a.yaml:${line}: spec.nodeName: Forbidden`;
  it.each([
    ["by its name", "typo-laptop"],
    ["by its name without that of the node", "typo"],
  ])("says why a pod was rejected, asked for %s", (_how, name) => {
    expect(unknownPodMessage("default", name, known, [problem("typo-laptop", 9)])).toBe(
      `pod "default/typo-laptop" was rejected: ${text(9)}`,
    );
  });
  it("lists every problem of a rejected pod, ten lines at most", () => {
    expect(unknownPodMessage("default", "typo", known, [problem("typo-laptop", 1), problem("typo-laptop", 2)])).toBe(
      `pod "default/typo-laptop" was rejected:\n  ${text(1)}\n  ${text(2)}`,
    );
    const many = Array.from({ length: 12 }, (_, index) => problem("typo-laptop", index));
    expect(unknownPodMessage("default", "typo", known, many)).toMatch(/:9: .*\n {2}\.\.\. and 2 more$/);
  });
  it("does not report a pod as rejected that runs its last good version", () => {
    expect(unknownPodMessage("default", "web", known, [problem("web-laptop", 9)])).toBe(
      'no pod "default/web" on this node; did you mean default/web-laptop?',
    );
  });
  it("ignores warnings and problems of other pods and namespaces", () => {
    const others: readonly ManifestProblem[] = [
      { ...problem("typo-laptop", 1), severity: "warning" },
      problem("other-laptop", 2),
      { ...problem("typo-laptop", 3), pod: { name: "typo-laptop", namespace: "demo", uid: "" } },
      problem("typo-a-laptop", 4),
      problem("typo-b-laptop", 5),
    ];
    expect(unknownPodMessage("default", "typo", [], others)).toBe('no pod "default/typo" on this node; it has no pods');
  });
  it("lists the manifests that may define the pod but cannot be read", () => {
    expect(unknownPodMessage("default", "syntax", [], [problem(undefined, 3)])).toBe(
      `no pod "default/syntax" on this node; it has no pods\nthese manifests define no usable pod: ${text(3)}`,
    );
  });
});

describe("timelineView", () => {
  const identity = { uid: podUid("u"), namespace: "default", name: "web-laptop" };
  const now = { wall: epochMs(0), mono: monotonicMs(0) };
  const node = { now, pulls: [], runtimeProblems: [], volumes: NO_VOLUMES };
  const own: ManifestProblem = {
    severity: "error",
    origin: "/m/web.yaml",
    line: 9,
    field: "spec.nodeName",
    reason: "Forbidden",
    pod: { name: "web-laptop", namespace: "default", uid: "u" },
  };
  const problemsWith = (...problems: readonly ManifestProblem[]) =>
    timelineView(emptyTimeline(identity, now), node, problems).problems;

  it("has only the problems of the pod's manifest", () => {
    const other: ManifestProblem = { ...own, pod: { name: "web-laptop", namespace: "demo", uid: "" } };
    expect(problemsWith(own, other)).toEqual([
      { severity: "error", message: "/m/web.yaml:9: spec.nodeName: Forbidden" },
    ]);
    expect(problemsWith(other)).toBeUndefined();
  });
  it("marks the problem that keeps the last good version", () => {
    const kept: ManifestProblem = {
      ...own,
      field: undefined,
      reason: "is not valid YAML",
      pod: undefined,
      kept: ["default/app-laptop", "default/web-laptop"],
    };
    expect(problemsWith(kept)).toEqual([
      { severity: "error", message: "/m/web.yaml:9: is not valid YAML", keepsLastGood: true },
    ]);
  });
});
