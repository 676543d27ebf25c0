import { describe, expect, it } from "vitest";
import { NO_API_POD_OBJECTS } from "../../../../src/core/api/apiPodObjects.ts";
import type { Pod } from "../../../../src/core/api.ts";
import { podUid } from "../../../../src/core/ids.ts";
import type { RegistryInput } from "../../../../src/core/pod/podRegistry.ts";
import { podsToEnd, podsToStartAgain, unfinished, untold } from "../../../../src/core/shutdown/shutdownPods.ts";
import { SHUTDOWN_STATUS } from "../../../../src/core/shutdown/shutdownStatus.ts";
import { podOf } from "../../../support/pods.ts";
import { registryNode, reported, said } from "../../../support/registryNode.ts";

const PERIODS = [
  { priority: 0, seconds: 20 },
  { priority: 100, seconds: 10 },
];
const pod = (uid: string, priority: number, terminationGracePeriodSeconds = 30): Pod =>
  podOf({ uid, name: uid, spec: { priority, terminationGracePeriodSeconds } });
const shutDown = (uid: string, graceSeconds: number): RegistryInput => ({
  kind: "shutDown",
  uid: podUid(uid),
  graceSeconds,
});
const asStatic = (made: Pod): Pod => ({
  ...made,
  metadata: { ...made.metadata, annotations: { "kubernetes.io/config.source": "file" } },
});

describe("the pods that a shutdown ends", () => {
  const { registry } = registryNode().send(
    reported("ADD", pod("a", -1), pod("b", 99, 3), pod("c", 100), pod("d", 5_000)),
  );
  const ended = (index: number, before: readonly string[] = []): readonly string[] =>
    podsToEnd(registry, PERIODS, index, new Set(before.map(podUid))).map(
      ({ identity, graceSeconds }) => `${identity.name} ${graceSeconds}`,
    );

  it("are those of the period, each with its own grace period but no longer than the period", () => {
    expect(ended(0)).toEqual(["a 20", "b 3"]);
    expect(ended(1, ["a", "b"])).toEqual(["c 10", "d 10"]);
  });

  it("are also those of a period before that have come since", () => {
    expect(ended(1, ["a"])).toEqual(["b 3", "c 10", "d 10"]);
  });

  it("do not include pods that have stopped; those are awaited until they have released their volumes", () => {
    const node = registryNode().send(reported("ADD", pod("a", 0)));
    const pods = podsToEnd(node.registry, PERIODS, 0, new Set());
    node.send(shutDown("a", 20));
    expect(unfinished(node.registry, pods)).toEqual(pods);
    node.send(said("stopped", "a"));
    expect(podsToEnd(node.registry, PERIODS, 0, new Set())).toEqual([]);
    expect(unfinished(node.registry, pods)).toEqual(pods);
    node.send({ kind: "reclaimed", uid: podUid("a") });
    expect(unfinished(node.registry, pods)).toEqual([]);
  });

  it("are untold while their object is there and not final", () => {
    const identity = { uid: podUid("a"), namespace: "demo", name: "a" };
    const objects = (phase?: string) => ({
      ...NO_API_POD_OBJECTS,
      byName: new Map([["demo/a", { status: phase === undefined ? {} : { phase } }]]),
    });
    expect(untold(NO_API_POD_OBJECTS, [identity])).toEqual([]);
    expect([undefined, "Running", "Failed"].map((phase) => untold(objects(phase), [identity]).length)).toEqual([
      1, 1, 0,
    ]);
  });
});

describe("a pod in the registry during a shutdown", () => {
  it("terminates with the grace period of the shutdown, and reports it", () => {
    const node = registryNode().send(reported("ADD", pod("a", 0)), shutDown("a", 7));
    expect(node.step().commands).toMatchObject([
      { phase: "terminating", graceSeconds: 7, override: { phase: "Failed", reason: "Terminated" } },
    ]);
  });

  it("keeps an earlier reason and a shorter grace period", () => {
    const evicted: RegistryInput = {
      kind: "evicted",
      uid: podUid("a"),
      message: "low",
      graceSeconds: 1,
      isDisrupted: true,
    };
    const node = registryNode().send(reported("ADD", pod("a", 0)), evicted, shutDown("a", 7));
    expect(node.record("a")).toMatchObject({ graceSeconds: 1, override: { reason: "Evicted" } });
  });

  it("starts again after a cancellation if it is static: at once, or once it is removed", () => {
    const node = registryNode().send(reported("ADD", asStatic(pod("a", 0)), asStatic(pod("b", 0)), pod("c", 0)));
    node.send(shutDown("a", 7), shutDown("c", 7), said("stopped", "a"));
    expect(node.record("a")?.override).toBe(SHUTDOWN_STATUS);
    const again = podsToStartAgain(node.registry, () => undefined);
    expect(again).toEqual(["a"]);
    node.send(...again.map((uid): RegistryInput => ({ kind: "startAgain", uid })));
    expect(node.step().commands).toMatchObject([{ phase: "terminated", remove: true }]);
    node.send(said("removed", "a"));
    expect(node.states()).toBe("b:syncing c:terminating a:syncing");
    expect(node.record("a")?.override).toBeUndefined();
  });

  it("starts again if it was refused meanwhile, and not if it was refused for another reason", () => {
    const node = registryNode();
    const { admit } = node.context;
    node.context = { ...node.context, admit: () => ({ admitted: false, reason: "NodeShutdown", message: "" }) };
    node.send(reported("ADD", asStatic(pod("a", 0)), asStatic(pod("b", 0))));
    expect(node.states()).toBe("a:rejected b:rejected");
    const again = podsToStartAgain(node.registry, (uid) => ({ reason: uid === "a" ? "NodeShutdown" : "OutOfcpu" }));
    expect(again).toEqual(["a"]);
    node.context = { ...node.context, admit };
    node.send({ kind: "startAgain", uid: podUid("a") });
    expect(node.states()).toBe("b:rejected a:syncing");
  });
});
