import { describe, expect, it } from "vitest";
import type { ApiContainerStatus, PodStatus } from "../../../../src/core/api.ts";
import { statusEntries } from "../../../../src/core/timeline/statusEntries.ts";

type State = NonNullable<ApiContainerStatus["state"]>;
const container = (state: State, more: Partial<ApiContainerStatus> = {}): ApiContainerStatus => ({
  ...{ name: "main", image: "", imageID: "", ready: false, restartCount: 0, containerID: "r://0", state },
  ...more,
});
const [RUNNING, CREATING]: readonly [State, State] = [
  { running: { startedAt: "2026-01-01T00:00:00Z" } },
  { waiting: { reason: "ContainerCreating" } },
];
const waiting = (reason: string, message?: string): State => ({
  waiting: { reason, ...(message === undefined ? {} : { message }) },
});
const exit = (exitCode: number, more: object = {}): NonNullable<State["terminated"]> => ({
  ...{ exitCode, containerID: "r://0", startedAt: "2026-01-01T00:00:00Z", finishedAt: "2026-01-01T00:00:05Z" },
  ...more,
});
const entries = (before: ApiContainerStatus | undefined, after: ApiContainerStatus) => {
  const status = (of: ApiContainerStatus): PodStatus => ({ containerStatuses: [of] });
  return statusEntries(before && status(before), status(after)).map(
    ({ what, message, outcome, tookMs, container: of }) =>
      [of === "main" ? what : `${of}?`, message, outcome, tookMs].filter((part) => part !== undefined).join(" | "),
  );
};

describe("entries for a container", () => {
  it.each<
    [title: string, before: ApiContainerStatus | undefined, after: ApiContainerStatus, entries: readonly string[]]
  >([
    ["is created", undefined, container(CREATING), []],
    ["waits for init containers", undefined, container(waiting("PodInitializing")), []],
    ["waits for resources", undefined, container(waiting("WaitingForResources")), []],
    ["waits without a reason", undefined, container({ waiting: {} }), []],
    ["starts", container(CREATING), container(RUNNING), ["Running"]],
    ["starts and is ready", container(CREATING), container(RUNNING, { ready: true }), ["Running", "Ready"]],
    ["runs on", container(RUNNING), container(RUNNING), []],
    ["becomes ready", container(RUNNING), container(RUNNING, { ready: true }), ["Ready"]],
    ["becomes unready", container(RUNNING, { ready: true }), container(RUNNING), ["NotReady | warning"]],
    [
      "is unready when it ends",
      container(RUNNING, { ready: true }),
      container({ terminated: exit(0) }),
      ["Exited | code 0 | 5000"],
    ],
    ["is ready without running", container(CREATING), container(CREATING, { ready: true }), []],
    [
      "was replaced",
      container(RUNNING),
      container(RUNNING, { containerID: "r://1", restartCount: 2 }),
      ["Running | restart 2"],
    ],
    ["fails", container(RUNNING), container({ terminated: exit(3) }), ["Exited | code 3 | failed | 5000"]],
    [
      "fails with reason and message",
      container(RUNNING),
      container({ terminated: exit(137, { reason: "OOMKilled", message: " no\n" }) }),
      ["Exited | code 137, OOMKilled, no | failed | 5000"],
    ],
    [
      "ends at an unknown time",
      container(RUNNING),
      container({ terminated: exit(0, { startedAt: undefined }) }),
      ["Exited | code 0"],
    ],
    ["has ended before the first status", undefined, container({ terminated: exit(0) }), ["Exited | code 0 | 5000"]],
    ["has ended as before", container({ terminated: exit(0) }), container({ terminated: exit(0) }), []],
    [
      "has ended as its last state said",
      container(CREATING, { lastState: { terminated: exit(0) } }),
      container({ terminated: exit(0) }),
      [],
    ],
    [
      "has ended and started again",
      container(RUNNING),
      container(RUNNING, { containerID: "r://1", restartCount: 1, lastState: { terminated: exit(3) } }),
      ["Exited | code 3 | failed | 5000", "Running | restart 1"],
    ],
    [
      "has a last state before the first status",
      undefined,
      container(RUNNING, { lastState: { terminated: exit(3) } }),
      ["Running"],
    ],
    [
      "has the last state of a known end",
      container({ terminated: exit(3) }),
      container(waiting("CrashLoopBackOff", "back-off"), { lastState: { terminated: exit(3) } }),
      ["CrashLoopBackOff | back-off | failed"],
    ],
    [
      "waits as before",
      container(waiting("CrashLoopBackOff", "back-off")),
      container(waiting("CrashLoopBackOff", "back-off")),
      [],
    ],
    [
      "waits with another message",
      container(waiting("CrashLoopBackOff", "back-off")),
      container(waiting("CrashLoopBackOff", "longer")),
      ["CrashLoopBackOff | longer | failed"],
    ],
    [
      "waits for another reason",
      container(waiting("ErrImagePull")),
      container(waiting("ImagePullBackOff")),
      ["ImagePullBackOff | failed"],
    ],
  ])("that %s", (_, before, after, expected) => {
    expect(entries(before, after)).toEqual(expected);
  });

  it("cover init and ephemeral containers, in the order init, regular, ephemeral", () => {
    const named = (name: string) => [container(RUNNING, { name })];
    const after: PodStatus = {
      ephemeralContainerStatuses: named("debug"),
      containerStatuses: named("main"),
      initContainerStatuses: named("init"),
    };
    expect(statusEntries(undefined, after).map((entry) => entry.container)).toEqual(["init", "main", "debug"]);
    expect(statusEntries(after, after)).toEqual([]);
  });
});

describe("entries for a pod", () => {
  it.each<[before: PodStatus | undefined, after: PodStatus, message: string | undefined]>([
    [undefined, {}, undefined],
    [undefined, { phase: "Pending" }, "Pending"],
    [{ phase: "Pending" }, { phase: "Pending", reason: "R" }, undefined],
    [{ phase: "Pending" }, { phase: "Running" }, "Running"],
    [{ phase: "Running" }, { phase: "Failed", reason: "Evicted", message: "no memory" }, "Failed: Evicted: no memory"],
    [{ phase: "Running" }, { phase: "Failed", reason: "", message: "no memory" }, "Failed: no memory"],
  ])("from %j to %j: %j", (before, after, message) => {
    expect(statusEntries(before, after)).toEqual(message === undefined ? [] : [{ what: "Phase", message }]);
  });
});
