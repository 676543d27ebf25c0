import { describe, expect, it } from "vitest";
import type { LivePod } from "../../../../src/core/live/liveMessages.ts";
import { byRank, podHealth, podTroubles } from "../../../../src/livePage/model/podTroubles.ts";

const NOW = 1_000_000;
const READY = { name: "web", kind: "main", state: "running", ready: true, restarts: 0 } as const;
const WAITING = { ...READY, state: "waiting", ready: false, reason: "ContainerCreating" } as const;
const pod = (more: Partial<LivePod> = {}): LivePod => ({
  uid: "uid-1",
  namespace: "default",
  name: "web",
  source: "api",
  state: "syncing",
  phase: "Running",
  containers: [READY],
  waits: [],
  ...more,
});
const pulling = { what: "ImagePull", container: "web", cause: "big:1, next in line", since: NOW - 90_000 };

describe("podHealth", () => {
  it.each<[string, Partial<LivePod>]>([
    ["ready", {}],
    ["ready", { containers: [READY, { ...READY, name: "setup", kind: "init", state: "terminated", ready: false }] }],
    ["done", { phase: "Succeeded", containers: [] }],
    ["done", { state: "gone" }],
    ["trouble", { phase: "Failed", reason: "Evicted" }],
    ["trouble", { state: "rejected" }],
    ["starting", { containers: [WAITING] }],
    ["starting", { containers: [WAITING], waits: [{ what: "RunPodSandbox", since: NOW - 3_000 }] }],
    ["trouble", { containers: [WAITING], waits: [{ what: "RunPodSandbox", since: NOW - 60_000 }] }],
    ["trouble", { containers: [WAITING], waits: [pulling] }],
    ["trouble", { containers: [{ ...READY, ready: false }] }],
    ["trouble", { waits: [{ what: "Runtime", cause: "the runtime is not ready" }] }],
    ["starting", { containers: [] }],
  ])("is %s for %j", (health, more) => {
    expect(podHealth(pod(more), NOW)).toBe(health);
  });
});

describe("podTroubles", () => {
  it("tells waits with their container, cause, timer and number ahead", () => {
    const next = { what: "next try", at: NOW + 5_000 };
    expect(podTroubles(pod({ waits: [{ ...pulling, ahead: ["a", "b"], next }], containers: [WAITING] }))).toEqual([
      { title: "ImagePull", container: "web", cause: "big:1, next in line", since: NOW - 90_000, next, ahead: 2 },
    ]);
  });
  it("falls back to what the containers say", () => {
    const containers = [
      { ...WAITING, reason: "CreateContainerConfigError" },
      { ...READY, name: "slow", ready: false },
      { ...READY, name: "setup", kind: "init", state: "terminated", ready: false, reason: "Completed" },
      { ...READY, name: "gone", state: "terminated", ready: false, reason: "OOMKilled" },
    ] as const;
    expect(podTroubles(pod({ containers })).map(({ title, container }) => `${container}: ${title}`)).toEqual([
      "web: CreateContainerConfigError",
      "slow: NotReady",
      "gone: OOMKilled",
    ]);
  });
  it("begins with the reason of the status when the pod has failed", () => {
    const failed = pod({
      phase: "Failed",
      reason: "Evicted",
      message: "the disk is full",
      containers: [WAITING],
      waits: [pulling],
    });
    expect(podTroubles(failed).map(({ title }) => title)).toEqual(["Evicted", "ImagePull"]);
    expect(podTroubles(pod({ reason: "Slow", waits: [pulling] })).map(({ title }) => title)).toEqual([
      "ImagePull",
      "Slow",
    ]);
  });
});

it("ranks pods in trouble first, each group by name", () => {
  const named = (name: string, health: "trouble" | "ready" | "starting" | "done") => ({ pod: pod({ name }), health });
  const ranked = byRank([
    named("d", "done"),
    named("b", "ready"),
    named("a", "ready"),
    named("z", "trouble"),
    named("c", "starting"),
  ]);
  expect(ranked.map(({ pod: { name } }) => name)).toEqual(["z", "c", "a", "b", "d"]);
});
