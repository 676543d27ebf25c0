import { describe, expect, it } from "vitest";
import type { PodStatus } from "../../../../src/core/api.ts";
import { type EpochMs, epochMs, monotonicMs, podUid } from "../../../../src/core/ids.ts";
import { advanceTimeline, emptyTimeline } from "../../../../src/core/timeline/advanceTimeline.ts";
import {
  MAX_ENTRIES,
  MAX_MESSAGE,
  type PodTimeline,
  type TimelineInput,
} from "../../../../src/core/timeline/timelineTypes.ts";
import { pod } from "../samples.ts";

const at = (ms: number) => ({ wall: epochMs(1_000_000 + ms), mono: monotonicMs(ms) });
const SPEC = pod();
const wall = (ms: number): EpochMs => at(ms).wall;
const IDENTITY = { uid: podUid("uid"), name: "web", namespace: "default" };

/** The timeline after inputs, one a second from second 1 on. */
const after = (...inputs: readonly TimelineInput[]): PodTimeline =>
  inputs.reduce(
    (timeline, input, index) => advanceTimeline(timeline, input, at((index + 1) * 1000)),
    emptyTimeline(IDENTITY, at(0)),
  );

const event = (reason: string, message: string, type: "Normal" | "Warning" = "Normal"): TimelineInput => ({
  kind: "event",
  event: { type, reason, message, object: { kind: "Pod", ...IDENTITY, fieldPath: "spec.containers{main}" } },
});
const began = (id: number, name = "RunPodSandbox"): TimelineInput => ({ kind: "stageBegan", id, stage: { name } });
const ended = (id: number, how: { failure?: string; cutOff?: boolean } = {}): TimelineInput => ({
  kind: "stageEnded",
  id,
  ...how,
});
const record = (
  state: (TimelineInput & { readonly kind: "record" })["state"],
  more: Partial<TimelineInput & { readonly kind: "record" }> = {},
): TimelineInput => ({
  kind: "record",
  pod: SPEC,
  state,
  graceSeconds: undefined,
  behind: undefined,
  awaited: undefined,
  ...more,
});

describe("remarks", () => {
  it("are entries of their own", () => {
    const { entries } = after({ kind: "remark", what: "EvictionRanking", message: "place 1 of 2" });
    expect(entries).toEqual([{ at: wall(1000), what: "EvictionRanking", message: "place 1 of 2" }]);
  });
});

describe("stages", () => {
  it.each([
    ["well", {}, {}],
    ["in failure", { failure: "refused" }, { outcome: "failed", message: "refused" }],
    ["cut off", { cutOff: true }, { outcome: "cut off" }],
  ])("are recorded when they end, with start and duration: %s", (_title, how, said) => {
    const { entries, underWay } = after(began(1), event("Killing", "x"), ended(1, how));
    expect([entries.at(-1), underWay.size]).toEqual([
      { at: wall(1000), what: "RunPodSandbox", tookMs: 2000, ...said },
      0,
    ]);
  });
  it("are in progress until they end, several at once", () => {
    const { entries, underWay } = after(began(1, "StopContainer"), began(2, "StopContainer"), ended(1));
    expect([entries.length, [...underWay.keys()]]).toEqual([1, [2]]);
  });
  it("that never started do not end", () => {
    const before = after(began(1));
    expect(advanceTimeline(before, ended(7), at(9_000))).toBe(before);
  });
});

describe("image pulls", () => {
  it.each([
    ["Pulled", {}],
    ["Failed", { outcome: "failed", message: "text" }],
  ])("begin with Pulling and end with %s", (reason, said) => {
    const pulling = after(event("Pulling", "Pulling image"));
    expect([pulling.entries, pulling.underWay.size]).toEqual([[], 1]);
    const { entries, underWay } = advanceTimeline(pulling, event(reason, "text"), at(5_000));
    expect([entries, underWay.size]).toEqual([
      [{ at: wall(1000), what: "ImagePull", container: "main", tookMs: 4000, ...said }],
      0,
    ]);
  });
  it("are cancelled when the pod's phase changes", () => {
    const { entries, underWay } = after(record("syncing"), event("Pulling", "x"), record("terminating"));
    expect([entries.map(({ what, outcome }) => [what, outcome]), underWay.size]).toEqual([
      [
        ["Accepted", undefined],
        ["ImagePull", "cut off"],
        ["Terminating", undefined],
      ],
      0,
    ]);
  });
});

describe("events", () => {
  it("are recorded with their text and severity", () => {
    expect(after(event("Unhealthy", "failed: no", "Warning")).entries).toEqual([
      { at: wall(1000), what: "Unhealthy", container: "main", outcome: "warning", message: "failed: no" },
    ]);
  });
  it.each(["Created", "Started", "Pulled", "Failed", "BackOff"])("leave %s to stages and statuses", (reason) => {
    expect(after(event(reason, "x")).entries).toEqual([]);
  });
  it("that repeat in a row are counted", () => {
    const entry = { at: wall(1000), what: "Unhealthy", container: "main", message: "no" };
    expect(after(...Array.from({ length: 3 }, () => event("Unhealthy", "no"))).entries).toEqual([
      { ...entry, count: 3, lastAt: wall(3000) },
    ]);
  });
});

describe("bounds", () => {
  it("keep the newest entries and count the others", () => {
    const inputs = Array.from({ length: MAX_ENTRIES + 5 }, (_, index) => event("Unhealthy", `${index}`));
    const { entries, dropped } = after(...inputs);
    expect([entries.length, entries[0]?.message, dropped]).toEqual([MAX_ENTRIES, "5", 5]);
  });
  it("cut long texts", () => {
    const shown = (length: number) => after(event("Unhealthy", "x".repeat(length))).entries[0]?.message;
    expect(shown(MAX_MESSAGE)).toBe("x".repeat(MAX_MESSAGE));
    expect(shown(MAX_MESSAGE + 1)).toBe(`${"x".repeat(MAX_MESSAGE - 3)}...`);
    expect(shown(100_000)).toHaveLength(MAX_MESSAGE);
  });
});

describe("the record", () => {
  it("records each state of the pod once, and updates of its spec", () => {
    const entries = after(
      record("waiting", { behind: podUid("old") }),
      record("waiting", { behind: podUid("old") }),
      record("syncing"),
      record("syncing", { pod: pod({ hostname: "x" }) }),
      record("terminating", { graceSeconds: 30 }),
      { kind: "gone" },
    ).entries.map(({ what, message }) => [what, message]);
    expect(entries).toEqual([
      ["Waiting", "for the pod of the same name with UID old"],
      ["Accepted", undefined],
      ["Updated", undefined],
      ["Terminating", "within 30 s"],
      ["Removed", undefined],
    ]);
  });
  it.each([
    ["waiting", "Waiting"],
    ["rejected", "Rejected"],
    ["syncing", "Accepted"],
    ["terminating", "Terminating"],
    ["terminated", "Terminated"],
  ] as const)("calls the state %s %s", (state, what) => {
    expect(after(record(state)).entries).toEqual([{ at: wall(1000), what }]);
  });
  it("of a new phase clears previous failures", () => {
    const failures = new Map([["main", { reason: "CrashLoopBackOff", message: "m", retryAt: monotonicMs(9) }]]);
    const { failures: left, failedRound } = after(
      record("syncing"),
      { kind: "failures", failures },
      { kind: "round", failures: ["no"], againAt: monotonicMs(9) },
      record("terminating"),
    );
    expect([left.size, failedRound]).toEqual([0, undefined]);
  });
});

describe("failures of a pod", () => {
  it("keep their start when they are repeated", () => {
    const failing = (reason: string): TimelineInput => ({
      kind: "failures",
      failures: new Map([["main", { reason, message: "m", retryAt: undefined }]]),
    });
    const since = (...inputs: readonly TimelineInput[]) => after(...inputs).failures.get("main")?.since.mono;
    expect([since(failing("A"), failing("A")), since(failing("A"), failing("B"))]).toEqual([1000, 2000]);
    const round = (...failures: readonly string[]): TimelineInput => ({ kind: "round", failures, againAt: undefined });
    expect(after(round("x"), round("y")).failedRound?.since.mono).toBe(1000);
    expect(after(round("x"), round()).failedRound).toBe(undefined);
  });
  it("leave the timeline unchanged after successful syncs", () => {
    const before = after(record("syncing"));
    expect(advanceTimeline(before, { kind: "round", failures: [], againAt: undefined }, at(9))).toBe(before);
  });
});

describe("statuses", () => {
  const running = (containerID: string, ready = true): PodStatus => ({
    phase: "Running",
    containerStatuses: [
      {
        name: "main",
        image: "i",
        imageID: "",
        ready,
        restartCount: containerID === "r://0" ? 0 : 1,
        containerID,
        state: { running: { startedAt: "2026-01-01T00:00:00Z" } },
        lastState:
          containerID === "r://0"
            ? {}
            : {
                terminated: {
                  containerID: "r://0",
                  exitCode: 3,
                  startedAt: "2026-01-01T00:00:00Z",
                  finishedAt: "2026-01-01T00:00:05Z",
                },
              },
      },
    ],
  });
  const reported = (...statuses: readonly PodStatus[]) =>
    after(...statuses.map((status): TimelineInput => ({ kind: "status", status })))
      .entries.slice(3)
      .map(({ what, message, tookMs, outcome }) => [what, message, tookMs, outcome]);
  it("record a termination that was never observed as a state", () => {
    expect(reported(running("r://0"), running("r://1"))).toEqual([
      ["Exited", "code 3", 5000, "failed"],
      ["Running", "restart 1", undefined, undefined],
    ]);
  });
  it("record when a container becomes unready and ready again", () => {
    expect(reported(running("r://0"), running("r://0", false), running("r://0"))).toEqual([
      ["NotReady", undefined, undefined, "warning"],
      ["Ready", undefined, undefined, undefined],
    ]);
  });
  it("that repeat add no entry", () => {
    expect(reported(running("r://0"), running("r://0"), { ...running("r://0"), podIP: "10.0.0.1" })).toEqual([]);
  });
});

describe("traces", () => {
  it("are those of the latest work, which is no entry", () => {
    const { traceId, entries } = after({ kind: "traced", traceId: "a" }, { kind: "traced", traceId: "b" });
    expect([traceId, entries]).toEqual(["b", []]);
  });

  it("are unknown before any work", () => {
    expect(after().traceId).toBeUndefined();
  });
});
