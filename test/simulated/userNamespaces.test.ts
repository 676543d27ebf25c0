/** User ids of pods on a whole simulated node: given out once, kept on disk, taken back. */
import { describe, expect, it } from "vitest";
import type { Pod, PodSpec } from "../../src/core/api.ts";
import { kubeletError } from "../../src/core/errors.ts";
import { ok } from "../../src/core/result.ts";
import { disjointUserIds } from "../../src/sim/checkers/disjointUserIds.ts";
import type { SimNode } from "../../src/sim/simNode.ts";
import { podNode } from "../support/podNode.ts";
import { containerOf, podOf } from "../support/pods.ts";

const UNIT = 65_536;
const userPod = (name: string, spec: Partial<PodSpec> = {}): Pod =>
  podOf({ name, uid: name, spec: { hostUsers: false, ...spec } });
const fileOf = (uid: string): string => `/var/lib/kubelet/pods/${uid}/userns`;
const contentOf = (firstId: number): string => {
  const mappings = [{ hostId: firstId, containerId: 0, length: UNIT }];
  return JSON.stringify({ uidMappings: mappings, gidMappings: mappings });
};
/** First ids of the live sandboxes and their containers, by pod. */
function idsOf(node: SimNode): Readonly<Record<string, readonly number[]>> {
  const live = node.runtime.sandboxes().filter(({ ready }) => ready);
  return Object.fromEntries(
    live.map(({ id, config }) => [
      config.metadata?.name,
      [config, ...node.runtime.containers().flatMap((each) => (each.sandboxId === id ? [each.config] : []))].flatMap(
        ({ linux }) =>
          (linux?.securityContext?.namespaceOptions?.usernsOptions?.uids ?? []).map(({ hostId }) => hostId),
      ),
    ]),
  );
}
const isRunning = (node: SimNode, count: number) => node.runUntil(() => node.running().length === count, 120_000);

describe("user namespaces", () => {
  it("are one range per pod, the same for sandbox and containers, and on disk", () => {
    const { node, check } = podNode({ pods: [userPod("a"), userPod("b"), podOf({ name: "plain", uid: "plain" })] });
    expect(isRunning(node, 3)).toBe(true);
    expect(idsOf(node)).toEqual({ a: [UNIT, UNIT], b: [2 * UNIT, 2 * UNIT], plain: [] });
    expect(
      (["kubelet_started_pods_total", "kubelet_started_user_namespaced_pods_total"] as const).map((name) =>
        node.telemetry.value(name),
      ),
    ).toEqual([3, 2]);
    expect(["a", "b", "plain"].map((uid) => node.files.read(fileOf(uid)))).toEqual([
      contentOf(UNIT),
      contentOf(2 * UNIT),
      undefined,
    ]);
    check();
  });

  it("stay with their pods over a restart of the kubelet, and are not given to new ones", () => {
    const { node, check } = podNode({ pods: [userPod("a"), userPod("b")] });
    expect(isRunning(node, 2)).toBe(true);
    node.crashKubelet();
    node.dropPod("a");
    node.putPod(userPod("c"));
    node.kill("demo/b/main");
    node.restartKubelet();
    node.runFor(200_000);
    expect(idsOf(node)).toMatchObject({ c: [3 * UNIT, 3 * UNIT] });
    expect(new Set(idsOf(node)["b"])).toEqual(new Set([2 * UNIT]));
    check();
  });

  it("are released once their pod is removed or terminated", () => {
    const job = userPod("job", { restartPolicy: "Never" });
    const { node, phase, check } = podNode({
      pods: [userPod("a"), job],
      programs: ({ sandbox }) => (sandbox.metadata?.name === "job" ? { exits: { afterMs: 5_000, code: 0 } } : {}),
    });
    expect(isRunning(node, 2)).toBe(true);
    node.dropPod("a");
    node.runFor(120_000);
    expect([phase("job"), node.files.read(fileOf("job")), node.files.read(fileOf("a"))]).toEqual([
      "Succeeded",
      undefined,
      undefined,
    ]);
    node.putPod(userPod("c"));
    node.putPod(userPod("d"));
    expect(isRunning(node, 2)).toBe(true);
    expect(idsOf(node)).toMatchObject({ c: [UNIT, UNIT], d: [2 * UNIT, 2 * UNIT] });
    check();
  });

  it("are not used before they are on disk", () => {
    let broken = true;
    const { node, events, calls, check } = podNode({
      pods: [userPod("a")],
      fileFault: (operation, path) =>
        broken && operation === "writeFile" && path.endsWith("/userns") ? "Io" : undefined,
    });
    node.runFor(5_000);
    expect([calls, events.at(-1)?.what]).toEqual([[], "FailedCreatePodSandBox a"]);
    broken = false;
    node.putPod(userPod("b"));
    expect(isRunning(node, 2)).toBe(true);
    expect(idsOf(node)).toEqual({ a: [UNIT, UNIT], b: [2 * UNIT, 2 * UNIT] });
    check();
  });

  it("are not allocated to new pods while a running pod's file is corrupt", () => {
    const { node, check } = podNode({ pods: [userPod("a")] });
    expect(isRunning(node, 1)).toBe(true);
    node.crashKubelet();
    node.files.put(fileOf("a"), "{");
    node.putPod(userPod("b"));
    node.restartKubelet();
    node.runFor(60_000);
    expect(idsOf(node)).toEqual({ a: [UNIT, UNIT] });
    const why =
      'Failed to create pod sandbox: create user namespace: no user namespace IDs can be assigned while those of pod "a" are unknown: ' +
      "invalid user namespace mappings file";
    expect(node.trace.lines.join("\n")).toContain(why);
    node.dropPod("a");
    node.runFor(120_000);
    expect(idsOf(node)).toEqual({ b: [UNIT, UNIT] });
    check();
  });

  it("are reallocated if their file was corrupt while no pod ran", () => {
    const { node, check } = podNode({ pods: [userPod("a")] });
    node.files.put(fileOf("a"), "{");
    expect(isRunning(node, 1)).toBe(true);
    expect([idsOf(node), node.files.read(fileOf("a"))]).toEqual([{ a: [UNIT, UNIT] }, contentOf(UNIT)]);
    check();
  });

  it("are released with the leftovers of an earlier kubelet", () => {
    const { node, check } = podNode();
    node.files.put(fileOf("gone"), contentOf(UNIT));
    node.runFor(60_000);
    node.putPod(userPod("a"));
    expect(isRunning(node, 1)).toBe(true);
    expect([node.files.at("/var/lib/kubelet/pods/gone"), idsOf(node)]).toEqual([undefined, { a: [UNIT, UNIT] }]);
    check();
  });

  it("run out, and the waiting pod gets those of the next removed pod", () => {
    const idPool = ok({ firstId: UNIT, length: UNIT, idsPerPod: UNIT });
    const { node, check } = podNode({ pods: [userPod("a")], config: { idPool } });
    expect(isRunning(node, 1)).toBe(true);
    node.putPod(userPod("b"));
    node.runFor(30_000);
    expect(node.trace.lines.join("\n")).toContain("could not find an empty slot to allocate a user namespace");
    node.dropPod("a");
    node.runFor(60_000);
    expect(idsOf(node)).toEqual({ b: [UNIT, UNIT] });
    check();
  });

  it.each([
    [
      "the runtime cannot do it",
      { handlers: [{ name: "", recursiveReadOnlyMounts: true, userNamespaces: false }] },
      "can't set `spec.hostUsers: false`, runtime does not support user namespaces",
    ],
    [
      "the node has no ids for it",
      { config: { idPool: { ok: false as const, error: kubeletError("InvalidArgument", "not enough") } } },
      "kubelet mappings: not enough",
    ],
  ])("are rejected when %s, and other pods run", (_, options, why) => {
    const { node, check } = podNode({ ...options, pods: [userPod("a"), podOf({ name: "plain", uid: "plain" })] });
    expect(isRunning(node, 1)).toBe(true);
    node.runFor(5_000);
    expect(node.running()).toEqual(["demo/plain/main#0"]);
    expect(node.trace.lines.join("\n")).toContain(`Failed to create pod sandbox: ${why}`);
    expect(node.telemetry.value("kubelet_started_user_namespaced_pods_errors_total")).toBe(1);
    check();
  });

  it("count as failed once when a container of a new pod cannot be created", () => {
    const refused = { containers: [containerOf({ securityContext: { runAsNonRoot: true, runAsUser: 0 } })] };
    const plain = podOf({ name: "plain", uid: "plain", spec: refused });
    const { node, check } = podNode({ pods: [userPod("a", refused), plain, userPod("b")] });
    expect(isRunning(node, 1)).toBe(true);
    node.runFor(60_000);
    expect(
      (["kubelet_started_user_namespaced_pods_errors_total", "kubelet_started_pods_errors_total"] as const).map(
        (name) => node.telemetry.value(name),
      ),
    ).toEqual([1, 0]);
    check();
  });

  it("never overlap while kubelets crash at any instant", () => {
    const spec = { containers: [containerOf()], terminationGracePeriodSeconds: 1 };
    const { node, check } = podNode({ pods: [userPod("p0", spec)] });
    for (let round = 1; round <= 30; round += 1) {
      node.putPod(userPod(`p${round}`, spec));
      if (round % 2 === 0) node.dropPod(`p${round - 2}`);
      node.runFor(node.prng.int(0, 400));
      node.crashKubelet();
      node.restartKubelet();
    }
    node.runFor(300_000);
    const ids = Object.values(idsOf(node)).map(([firstId]) => firstId);
    expect([ids.length, new Set(ids).size]).toEqual([16, 16]);
    check();
  });
});

describe("disjointUserIds", () => {
  const change = (id: string, podUid: string, firstId: number, kind = "sandbox created" as const) => ({
    atMs: 0,
    kind: "change" as const,
    change: { atMs: 0, kind, id, podUid, name: `demo/${podUid}`, userIds: { firstId, length: UNIT } },
  });

  it("reports exactly the pods with an id in common", () => {
    const checker = disjointUserIds();
    expect(checker.check(change("1", "a", UNIT))).toBeUndefined();
    expect(checker.check(change("2", "a", UNIT))).toBeUndefined();
    expect(checker.check(change("3", "b", 2 * UNIT))).toBeUndefined();
    expect(checker.check(change("4", "c", 2 * UNIT - 1))).toBe(
      "the pods demo/c and demo/a share user ids from 131071 and 65536 on",
    );
  });
});
