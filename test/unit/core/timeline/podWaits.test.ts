import { describe, expect, it } from "vitest";
import type { ApiContainerStatus, Container } from "../../../../src/core/api.ts";
import { epochMs, monotonicMs, podUid } from "../../../../src/core/ids.ts";
import { emptyTimeline } from "../../../../src/core/timeline/advanceTimeline.ts";
import { type NodeBusiness, ordinal, podWaits } from "../../../../src/core/timeline/podWaits.ts";
import { timelineView } from "../../../../src/core/timeline/timelineView.ts";
import type { PodTimeline, StageUnderWay } from "../../../../src/core/timeline/timelineTypes.ts";
import { NO_VOLUMES } from "../../../../src/core/volume/podVolumes.ts";
import { podOf } from "../../../support/pods.ts";

const WALL = Date.UTC(2026, 0, 1);
const at = (ms: number) => ({ wall: epochMs(WALL + ms), mono: monotonicMs(ms) });
const NODE: NodeBusiness = { now: at(60_000), pulls: [], runtimeProblems: [], volumes: NO_VOLUMES };
const SINCE = { ...emptyTimeline({ uid: podUid("u"), name: "web", namespace: "demo" }, at(50_000)), since: at(50_000) };
const SYNCING: PodTimeline = { ...SINCE, state: "syncing" };
const due = (ms: number) => ({ what: "next", at: monotonicMs(ms) });

const waitsOf = (timeline: Partial<PodTimeline>, node: Partial<NodeBusiness> = {}) =>
  podWaits({ ...SYNCING, ...timeline }, { ...NODE, ...node });
const underWay = (...stages: readonly StageUnderWay["stage"][]): PodTimeline["underWay"] =>
  new Map(stages.map((stage, id) => [id, { stage, since: at(58_000) }]));
const failure = (container: string, retryAt?: number): PodTimeline["failures"] =>
  new Map([
    [
      container,
      {
        reason: "CrashLoopBackOff",
        message: "back-off",
        retryAt: retryAt === undefined ? undefined : monotonicMs(retryAt),
        since: at(55_000),
      },
    ],
  ]);

describe("a hook in progress", () => {
  it.each([
    ["PostStartHook", { postStart: { exec: { command: ["/bin/warm", "cache"] } } }, "runs /bin/warm cache"],
    ["PreStopHook", { preStop: { httpGet: { port: 80, path: "/drain" } } }, "asks port 80 for /drain"],
    ["PreStopHook", { preStop: { httpGet: { port: "web" } } }, "asks port web for /"],
    ["PostStartHook", { postStart: { tcpSocket: { port: 5432 } } }, "connects to port 5432"],
    ["PreStopHook", { preStop: { sleep: { seconds: 30 } } }, "sleeps 30s"],
    ["PostStartHook", { preStop: { sleep: { seconds: 30 } } }, undefined],
    ["PostStartHook", { postStart: { exec: { command: ["x".repeat(1_000)] } } }, `runs ${"x".repeat(200)}`],
  ])("says what it does: %s %j", (name, lifecycle, cause) => {
    const pod = podOf({ spec: { containers: [{ name: "main", lifecycle }] } });
    const [wait] = waitsOf({ pod, underWay: underWay({ name, container: "main" }) });
    expect([wait?.what, wait?.cause]).toEqual([name, cause]);
  });
});

describe("a pod that waits to start", () => {
  const awaited = { pods: ["demo/a"], isPreempted: false, due: due(90_000) };
  it.each<[title: string, timeline: Partial<PodTimeline>, wait: object]>([
    [
      "for its name",
      { behind: podUid("old"), awaited },
      { what: "PodName", cause: "the pod of the same name with UID old has not terminated", forMs: 10_000 },
    ],
    ["for its turn", {}, { what: "PodName", cause: "not accepted yet", forMs: 10_000 }],
    [
      "for a resize of another pod",
      { awaited: { ...awaited, pods: [] } },
      { what: "Resources", cause: "another pod shrinks, and its new size is not on disk yet", forMs: 10_000 },
    ],
    [
      "for a device plugin",
      {
        awaited: {
          ...awaited,
          pods: ["vendor.example/gpu"],
          plugin: "the device plugin of vendor.example/gpu is away",
        },
      },
      { what: "Devices", cause: "the device plugin of vendor.example/gpu is away", forMs: 10_000, next: due(90_000) },
    ],
    [
      "for a pod that leaves",
      { awaited },
      {
        what: "Resources",
        cause: "demo/a is leaving the node and will free resources",
        ahead: ["demo/a"],
        forMs: 10_000,
        next: due(90_000),
      },
    ],
    [
      "for pods that it preempts",
      { awaited: { pods: ["demo/a", "demo/b"], isPreempted: true, due: undefined } },
      {
        what: "Preemption",
        cause: "demo/a, demo/b are stopped to free resources",
        ahead: ["demo/a", "demo/b"],
        forMs: 10_000,
      },
    ],
  ])("waits %s", (_, timeline, wait) => {
    expect(waitsOf({ state: "waiting", ...timeline })).toEqual([wait]);
  });
});

describe("the runtime", () => {
  const problems = { runtimeProblems: ["is down", "no network"] };
  const wait = { what: "Runtime", cause: "is down; no network", forMs: undefined };
  it.each([
    ["syncing", [wait]],
    ["terminating", [wait]],
    ["terminated", []],
    ["rejected", []],
    ["gone", []],
  ] as const)("keeps a pod waiting in the state %s: %j", (state, waits) => {
    expect(waitsOf({ state }, problems)).toEqual(waits);
  });

  it("keeps a pod that may not start waiting for nothing else", () => {
    expect(waitsOf({ state: "waiting" }, problems).map(({ what }) => what)).toEqual(["PodName"]);
  });
});

describe("a stage", () => {
  it("lasts since it began, and names its container and its timer", () => {
    const stages = underWay({ name: "RunPodSandbox" }, { name: "StopContainer", container: "a", due: due(70_000) });
    expect(waitsOf({ underWay: stages })).toEqual([
      { what: "RunPodSandbox", forMs: 2000 },
      { what: "StopContainer", container: "a", forMs: 2000, next: due(70_000) },
    ]);
  });

  const container = (name: string, image: string): Container => ({ name, image });
  const pod = podOf({
    spec: {
      initContainers: [container("init", "init")],
      containers: [container("main", "app:1")],
      ephemeralContainers: [{ name: "debug", image: "debug:1" }],
    },
  });
  const pull = (image: string, startedAt?: number) => ({
    image,
    askedAt: monotonicMs(0),
    startedAt: startedAt === undefined ? undefined : monotonicMs(startedAt),
  });
  const causeOf = (name: string | undefined, ...pulls: NodeBusiness["pulls"]) => {
    const stage = { name: "ImagePull", ...(name === undefined ? {} : { container: name }) };
    const [wait] = waitsOf({ pod, underWay: underWay(stage) }, { pulls });
    return [wait?.cause, wait?.ahead];
  };

  it.each<[title: string, container: string, pulls: NodeBusiness["pulls"], cause: string, ahead?: readonly string[]]>([
    ["is not in line", "main", [pull("other:1")], "app:1"],
    ["runs", "main", [pull("other:1"), pull("app:1", 45_400)], "app:1, pulling for 15s"],
    ["is next", "main", [pull("app:1"), pull("other:1")], "app:1, next in line, delayed by the pull rate limit"],
    [
      "is second",
      "init",
      [pull("app:1", 50_600), pull("init:latest")],
      "init, second in line behind app:1 (pulling for 9s)",
      ["app:1"],
    ],
    [
      "is fourth",
      "debug",
      [pull("a:1"), pull("b:1"), pull("c:1"), pull("debug:1")],
      "debug:1, fourth in line behind a:1, b:1, c:1",
      ["a:1", "b:1", "c:1"],
    ],
    [
      "is fifth",
      "main",
      [pull("a:1"), pull("b:1"), pull("c:1"), pull("d:1"), pull("app:1")],
      "app:1, fifth in line behind a:1, b:1, c:1 and 1 more",
      ["a:1", "b:1", "c:1", "d:1"],
    ],
  ])("that pulls an image that %s tells its place", (_, name, pulls, cause, ahead) => {
    expect(causeOf(name, ...pulls)).toEqual([cause, ahead]);
  });

  it("that pulls an image of an unknown container has no cause", () => {
    expect([causeOf("none", pull("app:1")), causeOf(undefined, pull("app:1"))]).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });
});

describe("a failure of a container", () => {
  const wait = { what: "CrashLoopBackOff", container: "main", cause: "back-off", forMs: 5000 };
  const round = (againAt: number | undefined, ...failures: readonly string[]): PodTimeline["failedRound"] => ({
    failures,
    againAt: againAt === undefined ? undefined : monotonicMs(againAt),
    since: at(57_000),
  });

  it("waits for its own next try", () => {
    expect(waitsOf({ failures: failure("main", 70_000), failedRound: round(80_000) })).toEqual([
      { ...wait, next: { what: "next try", at: 70_000 } },
    ]);
  });

  it("waits for the next sync when it has no time of its own", () => {
    expect(waitsOf({ failures: failure("main"), failedRound: round(80_000) })).toEqual([
      { ...wait, next: { what: "next try", at: 80_000 } },
    ]);
  });

  it("is no wait without a next try, or during a stage of the container", () => {
    expect(waitsOf({ failures: failure("main") })).toEqual([]);
    const stages = (container: string) => underWay({ name: "StartContainer", container });
    const whats = (container: string) =>
      waitsOf({ failures: failure("main", 70_000), underWay: stages(container) }).map(({ what }) => what);
    expect([whats("main"), whats("other")]).toEqual([["StartContainer"], ["StartContainer", "CrashLoopBackOff"]]);
  });

  it("of a sync is a wait unless containers or stages have their own", () => {
    const failedRound = round(80_000, "CrashLoopBackOff: back-off", "no network", "no volume");
    const retry = { what: "Retry", forMs: 3000, next: { what: "next try", at: 80_000 } };
    expect(waitsOf({ failedRound })).toEqual([
      { ...retry, cause: "CrashLoopBackOff: back-off; no network; no volume" },
    ]);
    expect(waitsOf({ failedRound, failures: failure("main", 70_000) }).slice(1)).toEqual([
      { ...retry, cause: "no network; no volume" },
    ]);
    expect(waitsOf({ failedRound: round(80_000) })).toEqual([]);
    expect(waitsOf({ failedRound: round(undefined, "no") })).toEqual([{ what: "Retry", cause: "no", forMs: 3000 }]);
    expect(waitsOf({ failedRound, underWay: underWay({ name: "x" }) }).map(({ what }) => what)).toEqual(["x"]);
  });
});

const status = (name: string, more: Partial<ApiContainerStatus> = {}): ApiContainerStatus => ({
  ...{ name, image: "", imageID: "", ready: false, restartCount: 0, started: true },
  state: { running: { startedAt: new Date(WALL + 40_000).toISOString() } },
  ...more,
});

describe("a running container", () => {
  const pod = podOf({
    spec: {
      initContainers: [{ name: "proxy", restartPolicy: "Always" }, { name: "setup" }],
      containers: [{ name: "main" }],
    },
  });
  const short = (timeline: Partial<PodTimeline>) =>
    waitsOf({ pod, ...timeline }).map(({ what, container, cause, forMs }) =>
      [what, container, cause, forMs].join(" ").trim(),
    );
  const NOT_READY = "does not succeed 20000";
  it.each<[title: string, status: Partial<ApiContainerStatus>, waits: readonly string[]]>([
    ["is ready", { ready: true }, []],
    ["is not ready", {}, [`ReadinessProbe main ${NOT_READY}`]],
    ["has not started", { started: false }, ["StartupProbe main has not succeeded yet 20000"]],
    ["runs since an unknown time", { state: { running: {} } }, ["ReadinessProbe main does not succeed"]],
    [
      "runs since a time that is to come",
      { state: { running: { startedAt: new Date(WALL + 70_000).toISOString() } } },
      ["ReadinessProbe main does not succeed 0"],
    ],
    ["does not run", { state: { waiting: {} } }, []],
  ])("that %s", (_, more, waits) => {
    expect(short({ status: { containerStatuses: [status("main", more)] } })).toEqual(waits);
  });

  it("that is not ready says how its probe failed last, since it runs", () => {
    const unhealthy = (container: string, ms: number, message: string) => ({
      ...{ at: epochMs(WALL + ms), what: "Unhealthy", container, outcome: "warning" as const, message },
    });
    const entries = [
      unhealthy("main", 30_000, "of the container before"),
      { ...unhealthy("main", 30_000, "Readiness probe failed: no index"), count: 9, lastAt: epochMs(WALL + 59_000) },
      unhealthy("other", 59_000, "of another container"),
    ];
    const cause = (known: PodTimeline["entries"]) =>
      short({ entries: known, status: { containerStatuses: [status("main")] } });
    expect([cause(entries), cause(entries.slice(0, 1))]).toEqual([
      ["ReadinessProbe main does not succeed: Readiness probe failed: no index 20000"],
      ["ReadinessProbe main does not succeed 20000"],
    ]);
  });

  it("of the initialization has to complete, and a sidecar to be ready", () => {
    const initContainerStatuses = [
      status("proxy"),
      status("setup"),
      status("done", { state: { terminated: { exitCode: 0 } } }),
    ];
    expect(short({ status: { initContainerStatuses } })).toEqual([
      `ReadinessProbe proxy ${NOT_READY}`,
      "InitContainer setup has not completed yet 20000",
    ]);
  });

  it("waits for no probe during a stage of its own", () => {
    const stage = underWay({ name: "ExecSync", container: "main" });
    expect(short({ underWay: stage, status: { containerStatuses: [status("main")] } })).toEqual([
      "ExecSync main  2000",
    ]);
  });

  it("waits for no probe while the pod terminates", () => {
    expect(short({ state: "terminating", status: { containerStatuses: [status("main")] } })).toEqual([]);
  });
});

describe("a sidecar of a pod that terminates", () => {
  const pod = podOf({
    spec: {
      initContainers: [
        { name: "one", restartPolicy: "Always" },
        { name: "setup" },
        { name: "two", restartPolicy: "Always" },
      ],
      containers: [{ name: "a" }, { name: "b" }],
    },
  });
  const stops = (running: readonly string[], stage?: string, state: PodTimeline["state"] = "terminating") =>
    waitsOf({
      ...{ pod, state },
      ...(stage === undefined ? {} : { underWay: underWay({ name: "StopContainer", container: stage }) }),
      status: {
        initContainerStatuses: ["one", "setup", "two"]
          .filter((name) => running.includes(name))
          .map((name) => status(name)),
        containerStatuses: ["a", "b"].map((name) =>
          running.includes(name) ? status(name) : status(name, { state: { terminated: { exitCode: 0 } } }),
        ),
      },
    }).flatMap(({ what, container, cause }) => (what === "SidecarStop" ? [`${container}: ${cause}`] : []));

  it.each([
    [
      ["one", "two", "a", "b"],
      ["one: stops after a, b, two", "two: stops after a, b"],
    ],
    [
      ["one", "two", "b"],
      ["one: stops after b, two", "two: stops after b"],
    ],
    [["one", "setup", "two"], ["one: stops after two"]],
    [["one"], []],
    [["a"], []],
  ])("stops after the main containers and later sidecars that run: %j", (running, expected) => {
    expect(stops(running)).toEqual(expected);
  });

  it("no longer waits while it is stopped", () => {
    expect(stops(["one", "two", "a"], "one")).toEqual(["two: stops after a"]);
  });

  it("waits only in a pod that terminates", () => {
    expect(stops(["one", "two", "a"], undefined, "syncing")).toEqual([]);
  });
});

it("ordinal numbers are words up to ten", () => {
  const places = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24, 101, 111, 113, 121];
  expect(places.map(ordinal).join(" ")).toBe(
    "first second third fourth fifth sixth seventh eighth ninth tenth 11th 12th 13th 14th 20th 21st 22nd 23rd 24th 101st 111th 113th 121st",
  );
});

describe("the view of a timeline", () => {
  it("has instants with milliseconds and durations in seconds, never below zero", () => {
    const timeline: PodTimeline = {
      ...SYNCING,
      dropped: 3,
      status: { phase: "Pending", reason: "R", message: "m" },
      underWay: underWay({ name: "past", due: due(59_000) }, { name: "coming", due: due(61_500) }),
      entries: [
        { at: epochMs(WALL + 2), what: "Later" },
        {
          ...{ at: epochMs(WALL + 1), what: "Earlier", container: "main", tookMs: 0.4, outcome: "failed" },
          ...{ message: "no", count: 2, lastAt: epochMs(WALL + 3) },
        },
      ],
    };
    expect(timelineView(timeline, NODE)).toEqual({
      pod: { namespace: "demo", name: "web", uid: "u" },
      state: "syncing",
      stateSince: "2026-01-01T00:00:50.000Z",
      phase: "Pending",
      reason: "R",
      message: "m",
      at: "2026-01-01T00:01:00.000Z",
      waits: [
        { what: "past", seconds: 2, next: { what: "next", at: "2026-01-01T00:00:59.000Z", inSeconds: 0 } },
        { what: "coming", seconds: 2, next: { what: "next", at: "2026-01-01T00:01:01.500Z", inSeconds: 1.5 } },
      ],
      entries: [
        {
          ...{ at: "2026-01-01T00:00:00.001Z", what: "Earlier", container: "main", seconds: 0, outcome: "failed" },
          ...{ message: "no", count: 2, lastAt: "2026-01-01T00:00:00.003Z" },
        },
        { at: "2026-01-01T00:00:00.002Z", what: "Later" },
      ],
      dropped: 3,
    });
  });
});
