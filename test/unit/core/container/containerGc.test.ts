import { describe, expect, it } from "vitest";
import {
  type ContainerGcPolicy,
  containersToRemove,
  isContentGone,
  isRuntimeGone,
  sandboxesToRemove,
} from "../../../../src/core/container/containerGc.ts";
import { epochMs, type PodUid, podUid } from "../../../../src/core/ids.ts";
import { freshRecord } from "../../../../src/core/pod/podRecord.ts";
import { emptyRegistry, type PodRecord, type Registry } from "../../../../src/core/pod/podRegistryTypes.ts";
import { Container, ContainerState, PodSandbox, PodSandboxState } from "../../../../src/gen/cri.ts";
import { podOf } from "../../../support/pods.ts";

const STATES = {
  created: ContainerState.CONTAINER_CREATED,
  running: ContainerState.CONTAINER_RUNNING,
  exited: ContainerState.CONTAINER_EXITED,
  unknown: ContainerState.CONTAINER_UNKNOWN,
} as const;
const NOW = epochMs(10_000_000);
const nanos = (secondsAgo: number): bigint => BigInt(NOW - secondsAgo * 1_000) * 1_000_000n;

/** A container `<pod>/<name>#<attempt>`, created so many seconds ago. */
function containerOf(id: string, secondsAgo: number, state: keyof typeof STATES = "exited"): Container {
  const [, name = "", attempt = "0"] = id.split(/[/#]/);
  const metadata = { name, attempt: Number(attempt) };
  return Container.fromPartial({ id, metadata, state: STATES[state], createdAt: nanos(secondsAgo) });
}

/** The pod in an identifier; none for one of another client. */
const ownerOf = (id: string): PodUid | undefined =>
  id.startsWith("foreign") ? undefined : podUid(id.split("/")[0] ?? "");
const ofGonePods = (uid: PodUid): boolean => uid.startsWith("gone");
const UNLIMITED: ContainerGcPolicy = { minAgeMs: 0, maxPerContainer: -1, maxTotal: -1 };

const removed = (containers: readonly Container[], policy: Partial<ContainerGcPolicy> = {}): string =>
  containersToRemove(containers, ownerOf, { ...UNLIMITED, ...policy }, NOW, ofGonePods)
    .map(({ id }) => id)
    .join(" ");

describe("containersToRemove", () => {
  const four = [0, 1, 2, 3].map((attempt) => containerOf(`a/web#${attempt}`, 100 - attempt));

  it.each<[string, readonly Container[], Partial<ContainerGcPolicy>, string]>([
    ["nothing without limits", four, {}, ""],
    ["the oldest beyond the limit of one container", four, { maxPerContainer: 1 }, "a/web#0 a/web#1 a/web#2"],
    ["every dead one at the limit zero", four, { maxPerContainer: 0 }, "a/web#0 a/web#1 a/web#2 a/web#3"],
    [
      "each container of each pod for itself",
      [...four.slice(0, 2), containerOf("a/log#0", 50), containerOf("b/web#0", 50), containerOf("b/web#1", 40)],
      { maxPerContainer: 1 },
      "a/web#0 b/web#0",
    ],
    [
      "not the last exit behind a container that never started",
      [containerOf("a/web#2", 70, "created"), containerOf("a/web#1", 80), containerOf("a/web#0", 90)],
      { maxPerContainer: 1 },
      "a/web#0",
    ],
    [
      "no container that runs, and does not count it",
      [containerOf("a/web#2", 10, "running"), containerOf("a/web#1", 20), containerOf("a/web#0", 30)],
      { maxPerContainer: 1 },
      "a/web#0",
    ],
    [
      "a container in an unknown state like a dead one",
      [containerOf("a/web#1", 20), containerOf("a/web#0", 30, "unknown")],
      { maxPerContainer: 1 },
      "a/web#0",
    ],
    [
      "no container younger than the minimum age, and does not count it",
      four,
      { maxPerContainer: 1, minAgeMs: 99_000 },
      "a/web#0",
    ],
    [
      "no container that may be about to start",
      [containerOf("a/web#1", 59, "created"), containerOf("b/web#1", 60, "created")],
      { maxPerContainer: 0 },
      "b/web#1",
    ],
    [
      "the older attempt although the clock was set back",
      [containerOf("a/web#1", 50), containerOf("a/web#0", 20)],
      { maxPerContainer: 1 },
      "a/web#0",
    ],
    [
      "everything of a pod that is gone, oldest first, whatever the limits",
      [containerOf("gone/web#0", 10), containerOf("gone/log#0", 20), containerOf("a/web#0", 30)],
      { maxPerContainer: 5 },
      "gone/log#0 gone/web#0",
    ],
    [
      "nothing younger than the minimum age of a pod that is gone",
      [containerOf("gone/web#0", 10)],
      { minAgeMs: 11_000 },
      "",
    ],
    [
      "an attempt of a pod that is gone with the later one, although the clock was set back between them",
      [containerOf("gone/web#1", 10), containerOf("gone/web#0", -500)],
      {},
      "gone/web#1 gone/web#0",
    ],
    [
      "an attempt as soon as a later one has the minimum age, although the clock was set back between them",
      [containerOf("a/web#2", 20, "running"), containerOf("a/web#1", 30), containerOf("a/web#0", -500)],
      { minAgeMs: 25_000, maxPerContainer: 0 },
      "a/web#0 a/web#1",
    ],
    [
      "no attempt before a later one has the minimum age",
      [containerOf("a/web#1", 20), containerOf("a/web#0", -500)],
      { minAgeMs: 25_000, maxPerContainer: 0 },
      "",
    ],
    [
      "nothing of other clients of the runtime",
      [containerOf("foreign/web#0", 99)],
      { maxPerContainer: 0, maxTotal: 0 },
      "",
    ],
  ])("removes %s", (_what, containers, policy, expected) => {
    expect(removed(containers, policy)).toBe(expected);
  });

  it("counts what the limit per container leaves, with one that never started, against the limit of the node", () => {
    const containers = [
      containerOf("a/web#2", 70, "created"),
      containerOf("a/web#1", 80),
      containerOf("a/web#0", 90),
      containerOf("b/web#0", 75),
    ];
    expect(removed(containers, { maxPerContainer: 1, maxTotal: 3 })).toBe("a/web#0");
    expect(removed(containers, { maxPerContainer: 1, maxTotal: 2 })).toBe("a/web#0 a/web#1");
  });

  it("orders containers of the same moment as the runtime lists them", () => {
    const names = ["x", "y", "z"].map((name) => containerOf(`gone/${name}#0`, 10));
    expect(removed(names)).toBe("gone/x#0 gone/y#0 gone/z#0");
  });

  const twoPods = [
    ...[0, 1, 2, 3, 4, 5].map((attempt) => containerOf(`a/web#${attempt}`, 100 - attempt)),
    ...[0, 1].map((attempt) => containerOf(`b/web#${attempt}`, 200 - attempt)),
  ];
  it.each([
    [8, ""],
    // An equal share of three for each of both containers.
    [7, "a/web#0 a/web#1 a/web#2"],
    [6, "a/web#0 a/web#1 a/web#2"],
    // A share of two each.
    [4, "a/web#0 a/web#1 a/web#2 a/web#3"],
    // A share of one each, which is the least.
    [3, "a/web#0 a/web#1 a/web#2 a/web#3 a/web#4 b/web#0"],
    // The oldest of the node follow.
    [1, "a/web#0 a/web#1 a/web#2 a/web#3 a/web#4 b/web#0 b/web#1"],
    [0, "a/web#0 a/web#1 a/web#2 a/web#3 a/web#4 b/web#0 b/web#1 a/web#5"],
  ])("leaves at most %s dead containers on the node", (maxTotal, expected) => {
    expect(removed(twoPods, { maxTotal })).toBe(expected);
  });

  it("takes time that grows with the number of containers, not with its square", () => {
    const many = Array.from({ length: 50_000 }, (_, attempt) => containerOf(`a/web#${attempt}`, attempt));
    expect(removed(many, { maxPerContainer: 1 }).split(" ").length).toBe(49_999);
  });
});

const STOPPED = PodSandboxState.SANDBOX_NOTREADY;

describe("sandboxesToRemove", () => {
  const sandboxOf = (id: string, attempt: number, state: PodSandboxState = STOPPED): PodSandbox =>
    PodSandbox.fromPartial({ id, metadata: { attempt }, state, createdAt: nanos(100 - attempt) });
  const ids = (sandboxes: readonly PodSandbox[], inUse: readonly string[] = []): string =>
    sandboxesToRemove(
      sandboxes,
      inUse.map((podSandboxId) => ({ podSandboxId })),
      ownerOf,
      ofGonePods,
    )
      .map(({ id }) => id)
      .join(" ");

  it.each<[string, readonly PodSandbox[], readonly string[], string]>([
    [
      "all but the newest, oldest first",
      [sandboxOf("a/2", 2), sandboxOf("a/0", 0), sandboxOf("a/1", 1)],
      [],
      "a/0 a/1",
    ],
    ["none with a container", [sandboxOf("a/2", 2), sandboxOf("a/0", 0), sandboxOf("a/1", 1)], ["a/0"], "a/1"],
    ["none that is ready", [sandboxOf("a/1", 1), sandboxOf("a/0", 0, PodSandboxState.SANDBOX_READY)], [], ""],
    ["all of a pod that is gone", [sandboxOf("gone/1", 1), sandboxOf("gone/0", 0)], [], "gone/0 gone/1"],
    [
      "no used or ready one of a pod that is gone",
      [sandboxOf("gone/1", 1, PodSandboxState.SANDBOX_READY), sandboxOf("gone/0", 0)],
      ["gone/0"],
      "",
    ],
    ["none of other clients of the runtime", [sandboxOf("foreign/0", 0), sandboxOf("foreign/1", 1)], [], ""],
  ])("removes %s", (_what, sandboxes, inUse, expected) => {
    expect(ids(sandboxes, inUse)).toBe(expected);
  });
});

describe("pods that are gone", () => {
  const STATIC = podOf({ annotations: { "kubernetes.io/config.source": "file" } });
  const uid = podUid("a");
  const registryOf = (record: Partial<PodRecord> | undefined, isSettled = true): Registry => ({
    ...emptyRegistry,
    isSettled,
    records: new Map(
      record === undefined ? [] : [[uid, { ...freshRecord({ uid, name: "a", namespace: "n" }), ...record }]],
    ),
  });

  it.each<[string, Partial<PodRecord> | undefined, content: boolean, runtime: boolean]>([
    ["unknown", undefined, true, true],
    ["that runs", { state: "syncing" }, false, false],
    ["that is evicted and terminates", { state: "terminating", evicted: true }, false, false],
    ["that was evicted", { state: "terminated", evicted: true }, true, true],
    ["that has ended", { state: "terminated" }, false, true],
    ["that has ended and was deleted", { state: "terminated", wanted: false }, true, true],
    ["that is static and has ended", { state: "terminated", pod: STATIC }, false, false],
    ["that was static and has ended", { state: "terminated", pod: STATIC, wanted: false }, true, true],
    ["that was rejected", { state: "rejected" }, false, true],
    ["that waits", { state: "waiting" }, false, false],
  ])("decides on a pod %s", (_what, record, content, runtime) => {
    const registry = registryOf(record);
    expect([isContentGone(registry, uid), isRuntimeGone(registry, uid)]).toEqual([content, runtime]);
    const early = registryOf(record, false);
    expect([isContentGone(early, uid), isRuntimeGone(early, uid)]).toEqual([false, false]);
  });
});
