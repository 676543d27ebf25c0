import { describe, expect, it } from "vitest";
import type { ApiContainerStatus } from "../../../../src/core/api.ts";
import { type ContainerId, containerId } from "../../../../src/core/ids.ts";
import { containerStatuses } from "../../../../src/core/pod/containerStatuses.ts";
import type { RuntimeContainer } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import { container, exited, instance, pod, runtime } from "../samples.ts";

const statusesOf = (
  instances: readonly RuntimeContainer[],
  restartCountBefore?: number,
  { restartPolicy = "Always", startingAgain = [] as readonly string[] } = {},
) => {
  const before = {
    name: "web",
    image: "web",
    imageID: "",
    ready: false,
    restartCount: restartCountBefore ?? 0,
    state: { running: { startedAt: "2026-01-01T00:00:00Z" } },
  };
  const known = restartCountBefore === undefined ? [] : [before];
  return entriesOf(instances, known, { restartPolicy, startingAgain }).map(({ restartCount, state, lastState }) => ({
    restartCount,
    state: Object.keys(state ?? {}),
    lastExitCode: lastState?.terminated?.exitCode,
  }));
};

const entriesOf = (
  instances: readonly RuntimeContainer[],
  known: readonly ApiContainerStatus[],
  { restartPolicy = "Always", startingAgain = [] as readonly string[] } = {},
) => {
  const input = {
    pod: pod({ restartPolicy }),
    actual: pod({ restartPolicy }),
    runtime: runtime(instances),
    failures: new Map(),
    verdicts: new Map(),
    context: { runtimeName: "containerd", recursiveReadOnly: false },
    restartingAll: false,
    startingAgain: new Set(startingAgain.map(containerId)),
    terminal: false,
  };
  return containerStatuses(input, [container("web")], "regular", known);
};

describe("containerStatuses", () => {
  it("shows the last termination of an instance that ran, skipping those that never did", () => {
    const made = (restartCount: number) => instance("web", { restartCount, state: "created" });
    expect(statusesOf([made(3), made(2), exited("web", 7, { restartCount: 1 })])).toEqual([
      { restartCount: 3, state: ["waiting"], lastExitCode: 7 },
    ]);
  });

  it("never decreases a restart count when an inspection misses the newest instance", () => {
    expect(statusesOf([exited("web", 1, { restartCount: 1 })], 3)).toEqual([
      { restartCount: 3, state: ["terminated"], lastExitCode: undefined },
    ]);
  });

  it.each([
    ["waits while it is started again after an end that is final", 0, "OnFailure", ["web-0"], "waiting"],
    ["has ended when nobody starts it again", 0, "OnFailure", ["other-0"], "terminated"],
    ["has ended when the instance that was replaced is an earlier one", 0, "OnFailure", ["web-7"], "terminated"],
    ["has ended as long as its policy lets it come back from that", 1, "OnFailure", ["web-0"], "terminated"],
    ["waits while a changed one is started again that is never restarted", 1, "Never", ["web-0"], "waiting"],
  ] as const)("shows a container that %s", (_, exitCode, restartPolicy, startingAgain, state) => {
    const input = { restartPolicy, startingAgain };
    const [entry] = entriesOf([exited("web", exitCode)], [], input);
    expect(entry?.state?.waiting?.reason).toBe(state === "waiting" ? "ContainerCreating" : undefined);
    const lastExitCode = state === "waiting" ? exitCode : undefined;
    expect(statusesOf([exited("web", exitCode)], 0, { restartPolicy, startingAgain })).toEqual([
      { restartCount: 0, state: [state], lastExitCode },
    ]);
  });
});

describe("the last state of a container whose earlier instance was removed", () => {
  const end = { terminated: { exitCode: 137, reason: "RestartingAllContainers" } };
  const before = {
    name: "web",
    image: "web",
    imageID: "",
    ready: false,
    restartCount: 1,
    containerID: "containerd://web-0",
  };
  const lastStateOf = (reported: object, instances: readonly RuntimeContainer[]) => {
    const made = pod();
    const input = {
      pod: made,
      actual: made,
      runtime: runtime(instances),
      failures: new Map(),
      verdicts: new Map(),
      context: { runtimeName: "containerd", recursiveReadOnly: false },
      restartingAll: false,
      startingAgain: new Set<ContainerId>(),
      terminal: false,
    };
    const [status] = containerStatuses(input, [container("web")], "regular", [{ ...before, ...reported }]);
    return status?.lastState;
  };
  const second = instance("web", { restartCount: 1 });
  const itself = { ...exited("web", 3), id: containerId("web-0") };

  it.each([
    ["stays as it was told", { state: { waiting: {} }, lastState: end }, [second], end],
    ["is the state it was told to have ended in", { state: end, lastState: {} }, [second], end],
    ["is not its own end", { state: { terminated: { exitCode: 3 } }, lastState: end }, [itself], end],
    [
      "is that of the instance before it, if there is one",
      { state: {}, lastState: end },
      [second, itself],
      { terminated: { exitCode: 3 } },
    ],
    ["is none when none was told", { state: { running: {} } }, [second], {}],
  ])("%s", (_title, reported, instances, expected) => {
    expect(lastStateOf(reported, instances)).toMatchObject(expected);
    expect(Object.keys(lastStateOf(reported, instances) ?? {})).toEqual(Object.keys(expected));
  });
});

describe("init containers that the runtime no longer has", () => {
  const setup = container("setup");
  const sidecar = { ...container("setup"), restartPolicy: "Always" as const };
  const before = { name: "setup", image: "setup", imageID: "", ready: true, restartCount: 0 };
  const ended = { ...before, state: { terminated: { exitCode: 0, reason: "Completed" } } };
  const state = (
    spec: typeof setup,
    instances: readonly RuntimeContainer[],
    known = [] as (typeof ended)[],
    restartingAll = false,
  ) => {
    const made = pod({ initContainers: [spec] });
    const input = {
      pod: made,
      actual: made,
      runtime: runtime(instances),
      failures: new Map(),
      verdicts: new Map(),
      context: { runtimeName: "containerd", recursiveReadOnly: false },
      restartingAll: false,
      startingAgain: new Set<ContainerId>(),
      terminal: false,
    };
    const [status] = containerStatuses({ ...input, restartingAll }, [spec], "init", known);
    const { terminated, waiting } = status?.state ?? {};
    return [terminated?.reason ?? waiting?.reason, terminated?.exitCode, status?.ready];
  };
  const web = instance("web", { state: "running" });

  it.each([
    ["has ended well once a regular container was made", setup, [web], [], ["Completed", 0, true]],
    ["waits while none was made", setup, [], [], ["PodInitializing", undefined, false]],
    [
      "waits while nobody knows what became of that",
      setup,
      [{ ...web, state: "unknown" }],
      [],
      ["PodInitializing", undefined, false],
    ],
    ["waits if it is a sidecar: it is started again", sidecar, [web], [], ["PodInitializing", undefined, false]],
    ["keeps the end it was told with", setup, [web], [ended], ["Completed", 0, true]],
  ] as const)("one %s", (_title, spec, instances, known, expected) => {
    expect(state(spec, instances, [...known])).toEqual(expected);
  });

  it("a container removed by RestartAllContainers waits", () => {
    expect(state(setup, [web], [ended], true)).toEqual(["RestartingAllContainers", undefined, false]);
  });
});
