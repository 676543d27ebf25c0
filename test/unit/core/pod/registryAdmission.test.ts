import { describe, expect, it } from "vitest";
import { podUid } from "../../../../src/core/ids.ts";
import type { RegistryInput } from "../../../../src/core/pod/podRegistry.ts";
import {
  CRITICAL,
  registryNode,
  restored,
  said,
  sizedPod,
  type SizeOf,
  reported,
} from "../../../support/registryNode.ts";

const overdue = (uid: string | undefined, isFor: "criticalPods" | "everyone" = "everyone"): RegistryInput => ({
  kind: "overdue",
  uid: uid === undefined ? undefined : podUid(uid),
  for: isFor,
});
const AUDIT: RegistryInput = { kind: "resync" };
const add = (uid: string, cpu: string, more: SizeOf = {}) => reported("ADD", sizedPod(uid, cpu, more));
const deletedPod = (uid: string, cpu: string) => {
  const pod = sizedPod(uid, cpu);
  return { ...pod, metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
};
/** Deleted by force: the object is gone. */
const gone = (uid: string, cpu = "1") => reported("REMOVE", sizedPod(uid, cpu));

describe("a pod added to a full node", () => {
  it("waits for a force-deleted pod, and starts when that has stopped", () => {
    const node = registryNode().at(200).send(add("old", "4"), gone("old"), add("new", "4"));
    expect([node.states(), node.behind("new"), node.rejections()]).toEqual([
      "old:terminating new:waiting",
      ["old"],
      [],
    ]);
    expect(node.step().resourceWaits.map(({ kind }) => kind)).toEqual(["began"]);
    node.at(1_500).send(said("stopped", "old"));
    expect(node.states()).toBe("old:terminated new:syncing");
    expect(node.step().resourceWaits).toEqual([{ kind: "ended", outcome: "started", waitedMs: 1_300 }]);
  });

  it("waits regardless of which pod terminates and why", () => {
    const deleted = { ...sizedPod("old", "4").metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
    const ways: Readonly<Record<string, RegistryInput>> = {
      "deleted with grace": reported("DELETE", { ...sizedPod("old", "4"), metadata: deleted }),
      finished: said("finished", "old"),
      evicted: { kind: "evicted", graceSeconds: 1, isDisrupted: true, uid: podUid("old"), message: "too large" },
      "out of time": { kind: "deadlineExceeded", uid: podUid("old") },
      removed: gone("old"),
    };
    for (const [why, way] of Object.entries(ways)) {
      const node = registryNode().send(add("old", "4"), way, add("new", "4"));
      expect([why, node.states()]).toEqual([why, "old:terminating new:waiting"]);
    }
  });

  it("is rejected at once, with upstream's message, when terminating pods do not free enough", () => {
    const node = registryNode().send(add("stays", "2"), add("old", "2"), gone("old"), add("new", "3"));
    expect([node.states(), node.rejections()]).toEqual([
      "stays:syncing old:terminating new:rejected",
      ["OutOfcpu: Node didn't have enough resource: cpu, requested: 3000, used: 2000, capacity: 4000"],
    ]);
  });

  it("waits only for pods whose resources it needs", () => {
    const node = registryNode().send(
      ...[add("a", "1"), add("b", "1"), add("c", "2"), add("tiny", "0")],
      ...[gone("a"), gone("c"), gone("tiny"), add("new", "2")],
    );
    expect(node.behind("new")).toEqual(["c"]);
    expect(node.send(said("stopped", "a"), said("stopped", "tiny")).states()).toMatch(/new:waiting/);
    expect(node.send(said("stopped", "c")).states()).toMatch(/new:syncing/);
  });

  it("starts with the first resources that become free", () => {
    const node = registryNode().send(add("a", "2"), add("b", "2"), gone("a"), gone("b"), add("new", "2"));
    expect(node.behind("new")).toEqual(["a"]);
    expect(node.send(said("stopped", "b")).states()).toMatch(/new:syncing/);
  });

  it("waits for the pod whose grace ends first", () => {
    const slow = { terminationGracePeriodSeconds: 600 };
    const node = registryNode().send(
      ...[add("slow", "2", slow), add("fast", "2"), reported("REMOVE", sizedPod("slow", "2", slow)), gone("fast")],
      add("new", "2"),
    );
    expect(node.behind("new")).toEqual(["fast"]);
    expect(node.record("new")?.behind[0]?.until).toBe(30_000 + 60_000);
  });

  it.each<[string, Parameters<typeof registryNode>[0], SizeOf]>([
    ["devices", { allocatable: { cpu: "4", "example.com/gpu": "1" } }, { requests: { "example.com/gpu": "1" } }],
    ["memory", { allocatable: { cpu: "4", memory: "1Gi" } }, { requests: { memory: "1Gi" } }],
    ["pods", { maxPods: 1 }, {}],
    ["a host port", {}, { hostPort: 80 }],
  ])("waits for %s", (_what, options, size) => {
    const node = registryNode(options).send(add("old", "1", size));
    const early = registryNode(options).send(add("old", "1", size), add("new", "1", size));
    expect(early.states()).toBe("old:syncing new:rejected");
    node.send(gone("old"), add("new", "1", size));
    expect([node.states(), node.behind("new")]).toEqual(["old:terminating new:waiting", ["old"]]);
    expect(node.send(said("stopped", "old")).states()).toBe("old:terminated new:syncing");
  });

  it("does not wait when the pod does not match the node", () => {
    const node = registryNode().send(add("old", "4"), gone("old"), add("new", "4", { nodeSelector: { disk: "ssd" } }));
    expect(node.rejections()).toEqual([
      "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    ]);
  });

  it("is decided at its newest size, and forgotten when its source removes it", () => {
    const node = registryNode().send(add("stays", "2"), add("old", "2"), gone("old"), add("new", "2"));
    node.send(reported("UPDATE", sizedPod("new", "3")));
    expect(node.states()).toBe("stays:syncing old:terminating new:rejected");
    const other = registryNode().send(add("old", "4"), gone("old"), add("new", "4"));
    other.at(700).send(reported("REMOVE", sizedPod("new", "4")));
    expect([other.states(), other.step().dropped, other.step().resourceWaits]).toEqual([
      "old:terminating",
      ["new"],
      [{ kind: "ended", outcome: "removed", waitedMs: 700 }],
    ]);
  });

  it("terminates at once when it is deleted before it started, without taking resources", () => {
    const node = registryNode().send(add("old", "4"), gone("old"), add("new", "4"));
    const pod = sizedPod("new", "4");
    const metadata = { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 30 };
    node.send(reported("DELETE", { ...pod, metadata }));
    expect([node.states(), node.step().commands.map(({ phase }) => phase)]).toEqual([
      "old:terminating new:terminating",
      ["terminating"],
    ]);
    expect(node.send(said("stopped", "old"), add("next", "4")).states()).toMatch(/next:syncing/);
  });
});

describe("several waiting pods", () => {
  it("are promised resources in order of arrival, which no later pod gets, however small", () => {
    const node = registryNode().send(
      add("old", "4"),
      gone("old"),
      add("first", "3"),
      add("second", "1"),
      add("third", "1"),
    );
    expect(node.states()).toBe("old:terminating first:waiting second:waiting third:rejected");
    expect(node.rejections()).toEqual([
      "OutOfcpu: Node didn't have enough resource: cpu, requested: 1000, used: 4000, capacity: 4000",
    ]);
    expect(node.send(said("stopped", "old")).states()).toBe(
      "old:terminated first:syncing second:syncing third:rejected",
    );
  });

  it("do not delay a later pod that fits beside them", () => {
    const node = registryNode().send(add("old", "3"), gone("old"), add("large", "3"), add("small", "1"));
    expect(node.states()).toBe("old:terminating large:waiting small:syncing");
  });

  it("delay a later pod that fits now but would delay them", () => {
    // 4 CPUs: 1 is free, `a` leaves 1, `b` leaves 2. The first needs what is free and `a`; the second would take that.
    const slow = { terminationGracePeriodSeconds: 600 };
    const node = registryNode().send(
      ...[add("a", "1"), add("b", "2", slow), gone("a"), reported("REMOVE", sizedPod("b", "2", slow))],
      ...[add("first", "2"), add("second", "1")],
    );
    expect([node.states(), node.behind("first"), node.behind("second")]).toEqual([
      "a:terminating b:terminating first:waiting second:waiting",
      ["a"],
      ["b"],
    ]);
    expect(node.send(said("stopped", "a")).states()).toMatch(/first:syncing second:waiting/);
    expect(node.send(said("stopped", "b")).states()).toMatch(/second:syncing/);
  });

  it("are decided oldest first when a source adds all at once, as after a restart of the kubelet", () => {
    const pods = ["09:00:02", "09:00:01"].map((time, index) =>
      sizedPod(`p${index}`, "3", { createdAt: `2026-01-01T${time}Z` }),
    );
    expect(
      registryNode()
        .send(reported("ADD", ...pods))
        .states(),
    ).toBe("p1:syncing p0:rejected");
  });

  it("give way to a critical pod before running pods do", () => {
    const node = registryNode().send(add("runs", "1"), add("old", "3"), gone("old"), add("first", "3"));
    node.send(add("critical", "3", { priority: CRITICAL }));
    expect([node.states(), node.behind("critical"), node.step().preempted]).toEqual([
      "runs:syncing old:terminating first:rejected critical:waiting",
      ["old"],
      [],
    ]);
  });

  it("let a critical pod preempt a running one, and wait for it", () => {
    const node = registryNode().send(add("runs", "4"), add("critical", "4", { priority: CRITICAL }));
    expect([node.states(), node.behind("critical")]).toEqual(["runs:terminating critical:waiting", ["runs"]]);
  });

  it.each<[string, readonly RegistryInput[], string]>([
    ["is removed", [gone("old")], "old:terminating new:waiting other:rejected"],
    [
      "has stopped and is not wanted",
      [gone("old"), said("stopped", "old")],
      "old:terminated new:waiting other:rejected",
    ],
    ["is being deleted", [reported("DELETE", deletedPod("old", "1"))], "old:terminating new:waiting other:rejected"],
    ["runs", [], "old:syncing new:waiting other:syncing"],
    ["has finished, and keeps the name", [said("finished", "old")], "old:terminating new:waiting other:syncing"],
  ])("are promised resources while the pod that has their name %s", (_holder, inputs, states) => {
    const named = (uid: string) => {
      const pod = sizedPod(uid, "4");
      return { ...pod, metadata: { ...pod.metadata, name: "old" } };
    };
    const node = registryNode().send(add("old", "0"), ...inputs, reported("ADD", named("new")), add("other", "1"));
    expect(node.states()).toBe(states);
  });

  it("wait behind a pod of the same name, which was promised its resources", () => {
    const named = (uid: string, cpu: string) => {
      const pod = sizedPod(uid, cpu);
      return { ...pod, metadata: { ...pod.metadata, name: "web-0" } };
    };
    const node = registryNode().send(reported("ADD", named("old", "4")), reported("REMOVE", named("old", "4")));
    node.send(reported("ADD", named("new", "4")), add("other", "1"));
    expect(node.states()).toBe("old:terminating new:waiting other:rejected");
    node.send(said("stopped", "old"));
    expect(node.states()).toBe("old:terminated new:waiting other:rejected");
    expect(node.send(said("removed", "old")).states()).toBe("new:syncing other:rejected");
  });

  it("leave resources to a pod that restarts under its UID", () => {
    const node = registryNode().send(add("old", "4"), gone("old"), add("old", "3"), add("other", "2"));
    expect(node.states()).toBe("old:terminating other:rejected");
    expect(node.send(said("stopped", "old"), said("removed", "old")).states()).toBe("other:rejected old:syncing");
  });
});

describe("an overdue terminating pod", () => {
  it("gets the pods that wait for it rejected, with its name", () => {
    const node = registryNode().send(add("old", "4"), gone("old"), add("new", "4"));
    node.at(90_000).send(overdue("old"));
    expect([node.states(), node.rejections()]).toEqual([
      "old:terminating new:rejected",
      [
        "OutOfcpu: Node didn't have enough resource: cpu, requested: 4000, used: 4000, capacity: 4000 " +
          "(pods that have not stopped in time: demo/old)",
      ],
    ]);
    expect(node.step().resourceWaits).toEqual([{ kind: "ended", outcome: "rejected", waitedMs: 90_000 }]);
    // A later pod does not wait for it either.
    expect(node.send(add("later", "1")).states()).toMatch(/later:rejected/);
  });

  it("is not named to a pod that would not fit without it either", () => {
    const node = registryNode().send(add("stays", "2"), add("old", "2"), gone("old"), overdue("old"), add("new", "3"));
    expect(node.rejections()).toEqual([
      "OutOfcpu: Node didn't have enough resource: cpu, requested: 3000, used: 4000, capacity: 4000",
    ]);
  });

  it("makes a pod wait for another terminating pod that frees enough", () => {
    const node = registryNode().send(add("a", "2"), add("b", "2"), gone("a"), gone("b"), add("new", "2"));
    node.send(overdue("a"));
    expect([node.states(), node.behind("new")]).toEqual(["a:terminating b:terminating new:waiting", ["b"]]);
  });

  it("does not get a pod rejected that still waits when it stops", () => {
    const node = registryNode().send(add("old", "4"), gone("old"), add("new", "4"), overdue("old", "criticalPods"));
    expect(node.states()).toBe("old:terminating new:waiting");
    expect(node.send(said("stopped", "old")).states()).toBe("old:terminated new:syncing");
  });

  it("lets only a critical pod start beside it", () => {
    const node = registryNode().send(add("old", "4"), gone("old"), add("critical", "4", { priority: CRITICAL }));
    expect([node.states(), node.behind("critical")]).toEqual(["old:terminating critical:waiting", ["old"]]);
    node.send(overdue("old", "criticalPods"));
    expect(node.states()).toBe("old:terminating critical:syncing");
    expect(node.send(add("other", "1")).states()).toMatch(/other:rejected/);
    // A later pod does not wait for a pod known to be stuck.
    const late = registryNode().send(add("old", "4"), gone("old"), add("first", "1", { priority: CRITICAL }));
    late.send(overdue("old", "criticalPods"), add("second", "3", { priority: CRITICAL }));
    expect(late.states()).toBe("old:terminating first:syncing second:syncing");
  });

  it("is due after the grace period and the time to stop, and no later for a second deletion", () => {
    const due = (grace: number, ...more: readonly RegistryInput[]) => {
      const spec = { terminationGracePeriodSeconds: grace };
      const node = registryNode().send(add("old", "4", spec), reported("REMOVE", sizedPod("old", "4", spec)), ...more);
      return node.record("old")?.leaving?.due;
    };
    expect([due(0), due(30), due(600)]).toEqual([
      { criticalPods: 10_000, everyone: 61_000 },
      { criticalPods: 45_000, everyone: 90_000 },
      { criticalPods: 900_000, everyone: 900_000 },
    ]);
    const pod = sizedPod("old", "4", { terminationGracePeriodSeconds: 600 });
    const sooner = reported("DELETE", { ...pod, metadata: { ...pod.metadata, deletionGracePeriodSeconds: 5 } });
    expect(due(600, sooner)).toEqual({ criticalPods: 10_000, everyone: 65_000 });
  });
});

describe("resources after a restart of the kubelet", () => {
  const old = sizedPod("old", "4");

  it("are granted once the sources have reported: a running pod stays", () => {
    const node = registryNode().runs(old).send(restored(old), add("new", "4"));
    expect([node.states(), node.behind("new")]).toEqual(["new:waiting", ["old"]]);
    node.send(reported("ADD", old));
    expect([node.states(), node.rejections()]).toEqual([
      "new:rejected old:syncing",
      ["OutOfcpu: Node didn't have enough resource: cpu, requested: 4000, used: 4000, capacity: 4000"],
    ]);
  });

  it("are granted once the sources have reported: a running pod was removed", () => {
    const node = registryNode().runs(old).send(restored(old), add("new", "4"), AUDIT);
    expect([node.states(), node.behind("new")]).toEqual(["new:waiting old:terminating", ["old"]]);
    expect(node.send(said("stopped", "old")).states()).toBe("new:syncing old:terminated");
  });

  it("are free when a running pod disappears", () => {
    const node = registryNode().runs(old).send(restored(old), add("new", "4")).runs();
    expect(node.send(AUDIT).states()).toBe("new:syncing");
  });

  it("stay with a running pod that no source has claimed in time, except for critical pods", () => {
    const node = registryNode().runs(old).send(restored(old), add("new", "4"));
    node.send(add("critical", "4", { priority: CRITICAL }));
    expect(node.states()).toBe("new:rejected critical:waiting");
    const late = registryNode().runs(old).send(restored(old), add("new", "4"), overdue(undefined));
    expect(late.states()).toBe("new:rejected");
    expect(node.send(overdue(undefined, "criticalPods")).states()).toBe("new:rejected critical:syncing");
  });

  it("are those of a running pod as a whole: its init container has ended", () => {
    const resources = { requests: { cpu: "2" } };
    const staged = sizedPod("old", "2", { initContainers: [{ name: "setup", image: "setup", resources }] });
    const node = registryNode().runs(staged).send(restored(staged), add("new", "2"));
    expect(node.states()).toBe("new:syncing");
    expect(registryNode().runs(staged).send(restored(staged), add("new", "3")).behind("new")).toEqual(["old"]);
  });

  it("are due for other pods after the time that sources and runtime get", () => {
    const node = registryNode().at(500).runs(old).send(restored(old));
    expect(node.registry.unclaimed).toEqual({
      due: { criticalPods: 10_500, everyone: 60_500 },
      overdueFor: undefined,
    });
  });

  it("go first to running pods among pods added at once", () => {
    const node = registryNode()
      .runs(old)
      .send(reported("ADD", sizedPod("new", "4"), old));
    expect(node.states()).toBe("new:rejected old:syncing");
  });
});

describe("resizes beside waiting pods", () => {
  const resized = (uid: string, cpu: string) => reported("UPDATE", sizedPod(uid, cpu, { generation: 2 }));
  const refused = (node: ReturnType<typeof registryNode>, uid: string) => node.record(uid)?.refused?.reason;

  it("do not take resources promised to an earlier pod", () => {
    const node = registryNode().send(add("a", "1"), add("old", "3"), gone("old"), add("new", "3"), resized("a", "2"));
    expect([node.states(), refused(node, "a")]).toEqual(["a:syncing old:terminating new:waiting", "Deferred"]);
    node.send(said("stopped", "old"));
    expect([node.states(), refused(node, "a")]).toEqual(["a:syncing old:terminated new:syncing", "Deferred"]);
  });

  it("are promised freed resources before a later pod, as upstream grants them at once", () => {
    const node = registryNode().send(add("a", "1"), add("old", "3"), resized("a", "4"), gone("old"));
    expect([refused(node, "a"), node.behind("a")]).toEqual(["Deferred", ["old"]]);
    expect(node.record("a")?.refused?.message).toBe(
      "Node didn't have enough resource: cpu, requested: 4000, used: 3000, capacity: 4000",
    );
    expect(node.send(add("new", "1")).states()).toBe("a:syncing old:terminating new:rejected");
    node.send(said("stopped", "old"));
    expect([refused(node, "a"), node.behind("a")]).toEqual([undefined, []]);
  });

  it("are tried again by a resync, and a resync that has nothing to try again changes nothing", () => {
    const node = registryNode().send(add("a", "1"), add("b", "3"), resized("a", "2"));
    expect(refused(node, "a")).toBe("Deferred");
    const { admit } = node.context;
    node.context = {
      ...node.context,
      admit: (pod, others) =>
        admit(
          pod,
          others.filter(({ metadata }) => metadata.uid !== "b"),
        ),
    };
    expect(refused(node.send(AUDIT), "a")).toBeUndefined();
    const { registry } = node.step();
    expect(node.send(AUDIT).step()).toMatchObject({ commands: [], resizes: [] });
    expect(node.step().registry).toBe(registry);
  });

  it("lose a promise that cannot be kept, and one for another size", () => {
    const node = registryNode().send(add("a", "1"), add("old", "3"), resized("a", "4"), gone("old"), overdue("old"));
    expect([refused(node, "a"), node.behind("a")]).toEqual(["Deferred", []]);
    const other = registryNode().send(
      add("a", "1"),
      add("old", "3"),
      resized("a", "4"),
      gone("old"),
      resized("a", "1"),
    );
    expect([refused(other, "a"), other.behind("a")]).toEqual([undefined, []]);
    expect(other.send(add("new", "3")).states()).toBe("a:syncing old:terminating new:waiting");
  });

  it("of a critical pod are granted once those it preempts have stopped", () => {
    const node = registryNode().send(add("critical", "1", { priority: CRITICAL }), add("victim", "3"));
    node.send(reported("UPDATE", sizedPod("critical", "4", { priority: CRITICAL })));
    expect([node.states(), refused(node, "critical"), node.behind("critical")]).toEqual([
      "critical:syncing victim:terminating",
      "Deferred",
      ["victim"],
    ]);
    expect(node.step().preempted.map(({ uid }) => uid)).toEqual(["victim"]);
    node.send(said("stopped", "victim"));
    expect(refused(node, "critical")).toBeUndefined();
  });
});
