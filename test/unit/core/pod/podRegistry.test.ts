import { describe, expect, it } from "vitest";
import type { AdmissionResult } from "../../../../src/core/admission/admit.ts";
import { allocationOf } from "../../../../src/core/allocation/podAllocation.ts";
import type { Pod } from "../../../../src/core/api.ts";
import { monotonicMs, type PodUid, podUid } from "../../../../src/core/ids.ts";
import {
  advanceRegistry,
  emptyRegistry,
  type PodCommand,
  type PodRecord,
  type Registry,
  type RegistryContext,
  type RegistryInput,
  type RegistryStep,
} from "../../../../src/core/pod/podRegistry.ts";
import type { PodOperation } from "../../../../src/core/pod/podUpdate.ts";
import { podRequests } from "../../../../src/core/resources/podResources.ts";
import { resourceMilli } from "../../../../src/core/resources/resourceList.ts";
import type { ListedPod } from "../../../../src/core/runtime/runtimeListing.ts";
import { ALL_RESIZABLE, podOf } from "../../../support/pods.ts";

const ADMIT: AdmissionResult = { admitted: true, preempt: [] };
const OPEN: RegistryContext = {
  now: monotonicMs(0),
  parts: ALL_RESIZABLE,
  admit: () => ADMIT,
  infeasible: () => undefined,
  sourcesReady: true,
  runtimePods: [],
};
const REFUSE: AdmissionResult = { admitted: false, reason: "OutOfpods", message: "full" };

/** A pod whose image identifies its version. */
const version = (uid: string, more: Parameters<typeof podOf>[0] = {}, image = "one"): Pod =>
  podOf({
    uid,
    name: "web",
    ...more,
    spec: { terminationGracePeriodSeconds: 30, containers: [{ name: "main", image }], ...more.spec },
  });
const update = (op: PodOperation, ...pods: readonly Pod[]): RegistryInput => ({
  kind: "update",
  update: { op, source: "file", pods },
});
const said = (kind: "finished" | "stopped" | "reclaimed" | "removed", uid = "a"): RegistryInput => ({
  kind,
  uid: podUid(uid),
});
const listed = (uid: string, more: Partial<ListedPod> = {}): ListedPod => ({
  podUid: podUid(uid),
  name: "web",
  namespace: "demo",
  running: true,
  print: "",
  ...more,
});

/** A registry that receives inputs one by one; `last` is the newest step. */
function node(context: Partial<RegistryContext> = {}) {
  let registry: Registry = emptyRegistry;
  let last: RegistryStep | undefined;
  const self = {
    context: { ...OPEN, ...context },
    send(...inputs: readonly RegistryInput[]) {
      for (const input of inputs) {
        last = advanceRegistry(registry, input, self.context);
        registry = last.registry;
      }
      return self;
    },
    record: (uid: string): PodRecord | undefined => registry.records.get(podUid(uid)),
    /** `a:syncing b:waiting`, in order. */
    states: (): string => [...registry.records].map(([uid, { state }]) => `${uid}:${state}`).join(" "),
    commands: (): readonly string[] => (last?.commands ?? []).map(short),
    step: (): RegistryStep => last as RegistryStep,
    holders: (): Readonly<Record<string, PodUid>> => Object.fromEntries(registry.holders),
  };
  return self;
}

/** `sync a one`, `terminating a 30`, `remove a`, `keep a`. */
function short(command: PodCommand): string {
  const { uid } = command.identity;
  switch (command.phase) {
    case "sync":
      return `sync ${uid} ${command.pod.spec.containers[0]?.image}`;
    case "terminating":
      return `terminating ${uid} ${command.graceSeconds ?? "default"}`;
    case "terminated":
      return `${command.remove ? "remove" : "keep"} ${uid}`;
  }
}

const add = update("ADD", version("a"));
const remove = update("REMOVE", version("a"));

/** Ways into each state of pod `a`; where it takes another pod, that one is `z`. */
const WAYS = {
  absent: [],
  waiting: [update("ADD", version("z")), add],
  rejected: [add],
  syncing: [add],
  "terminating wanted": [add, said("finished")],
  "terminating unwanted": [add, remove],
  "terminating with successor": [add, remove, update("ADD", version("a", {}, "next"))],
  "terminated wanted": [add, said("finished"), said("stopped")],
  "terminated unwanted": [add, remove, said("stopped")],
  "terminated with successor": [add, remove, said("stopped"), update("ADD", version("a", {}, "next"))],
} as const satisfies Readonly<Record<string, readonly RegistryInput[]>>;

const INPUTS = {
  ADD: update("ADD", version("a", {}, "two")),
  UPDATE: update("UPDATE", version("a", {}, "two")),
  RECONCILE: update("RECONCILE", version("a", {}, "two")),
  DELETE: update("DELETE", version("a", { deletionGracePeriodSeconds: 5 }, "two")),
  REMOVE: remove,
  finished: said("finished"),
  stopped: said("stopped"),
  removed: said("removed"),
  audit: { kind: "resync" },
  drain: { kind: "drain" },
} as const satisfies Readonly<Record<string, RegistryInput>>;

/** State of `a` afterwards, its image, `+` and the successor's image, and the outputs: commands, `dropped`. */
type Expected = Readonly<Record<keyof typeof INPUTS, string>>;

const TABLE: Readonly<Record<keyof typeof WAYS, Expected>> = {
  absent: {
    ADD: "syncing two | sync a two",
    UPDATE: "absent",
    RECONCILE: "absent",
    DELETE: "absent",
    REMOVE: "absent",
    finished: "absent",
    stopped: "absent",
    removed: "absent",
    audit: "absent",
    drain: "absent",
  },
  waiting: {
    ADD: "waiting two",
    UPDATE: "waiting two",
    RECONCILE: "waiting two",
    DELETE: "waiting two",
    REMOVE: "absent | dropped a",
    finished: "waiting one",
    stopped: "waiting one",
    removed: "waiting one",
    audit: "waiting one",
    drain: "absent | terminating z 30, dropped a",
  },
  rejected: {
    ADD: "rejected two",
    UPDATE: "rejected two",
    RECONCILE: "rejected two",
    DELETE: "rejected two",
    REMOVE: "absent | dropped a",
    finished: "rejected one",
    stopped: "rejected one",
    removed: "rejected one",
    audit: "rejected one",
    drain: "absent | dropped a",
  },
  syncing: {
    ADD: "syncing two | sync a two",
    UPDATE: "syncing two | sync a two",
    RECONCILE: "syncing two | sync a two",
    DELETE: "terminating two | sync a two, terminating a 5",
    REMOVE: "terminating one unwanted | terminating a 30",
    finished: "terminating one | terminating a 30",
    stopped: "syncing one",
    removed: "syncing one",
    audit: "syncing one",
    drain: "terminating one unwanted | terminating a 30",
  },
  "terminating wanted": {
    ADD: "terminating one + two",
    UPDATE: "terminating two",
    RECONCILE: "terminating two",
    DELETE: "terminating two | terminating a 5",
    REMOVE: "terminating one unwanted",
    finished: "terminating one",
    stopped: "terminated one | keep a",
    removed: "terminating one",
    audit: "terminating one",
    drain: "terminating one unwanted",
  },
  "terminating unwanted": {
    ADD: "terminating one unwanted + two",
    UPDATE: "terminating two unwanted",
    RECONCILE: "terminating two unwanted",
    DELETE: "terminating two unwanted | terminating a 5",
    REMOVE: "terminating one unwanted",
    finished: "terminating one unwanted",
    stopped: "terminated one unwanted | remove a",
    removed: "terminating one unwanted",
    audit: "terminating one unwanted",
    drain: "terminating one unwanted",
  },
  "terminating with successor": {
    ADD: "terminating one unwanted + two",
    UPDATE: "terminating one unwanted + two",
    RECONCILE: "terminating one unwanted + two",
    DELETE: "terminating one unwanted + two | terminating a 5",
    REMOVE: "terminating one unwanted",
    finished: "terminating one unwanted + next",
    stopped: "terminated one unwanted + next | remove a",
    removed: "terminating one unwanted + next",
    audit: "terminating one unwanted + next",
    drain: "terminating one unwanted",
  },
  "terminated wanted": {
    ADD: "terminated one + two",
    UPDATE: "terminated two",
    RECONCILE: "terminated two",
    DELETE: "terminated two",
    REMOVE: "terminated one unwanted | remove a",
    finished: "terminated one",
    stopped: "terminated one",
    removed: "terminated one",
    audit: "terminated one",
    drain: "terminated one unwanted | remove a",
  },
  "terminated unwanted": {
    ADD: "terminated one unwanted + two",
    UPDATE: "terminated two unwanted",
    RECONCILE: "terminated two unwanted",
    DELETE: "terminated two unwanted",
    REMOVE: "terminated one unwanted",
    finished: "terminated one unwanted",
    stopped: "terminated one unwanted",
    removed: "absent",
    audit: "terminated one unwanted",
    drain: "terminated one unwanted",
  },
  "terminated with successor": {
    ADD: "terminated one unwanted + two",
    UPDATE: "terminated one unwanted + two",
    RECONCILE: "terminated one unwanted + two",
    DELETE: "terminated one unwanted + two",
    REMOVE: "terminated one unwanted",
    finished: "terminated one unwanted + next",
    stopped: "terminated one unwanted + next",
    removed: "syncing next | sync a next",
    audit: "terminated one unwanted + next",
    drain: "terminated one unwanted",
  },
};

function describeRecord(record: PodRecord | undefined): string {
  if (record === undefined) return "absent";
  const image = (pod: Pod | undefined): string => pod?.spec.containers[0]?.image ?? "no pod";
  const successor = record.successor === undefined ? "" : ` + ${image(record.successor)}`;
  return `${record.state} ${image(record.pod)}${record.wanted ? "" : " unwanted"}${successor}`;
}

describe("advanceRegistry: every state and every input", () => {
  const rows = (Object.keys(TABLE) as (keyof typeof TABLE)[]).flatMap((state) =>
    (Object.keys(INPUTS) as (keyof typeof INPUTS)[]).map((input) => [state, input, TABLE[state][input]] as const),
  );
  it.each(rows)("%s, then %s: %s", (state, input, expected) => {
    const registry = node({ admit: () => (state === "rejected" ? REFUSE : ADMIT) });
    registry.send(...WAYS[state]).send(INPUTS[input]);
    const reported = [...registry.commands(), ...registry.step().dropped.map((uid) => `dropped ${uid}`)];
    const after = describeRecord(registry.record("a"));
    expect(reported.length === 0 ? after : `${after} | ${reported.join(", ")}`).toBe(expected);
  });

  it("never changes the registry it was given", () => {
    const before = node().send(add).step().registry;
    const records = [...before.records];
    const holders = [...before.holders];
    advanceRegistry(before, remove, OPEN);
    expect([[...before.records], [...before.holders]]).toEqual([records, holders]);
  });
});

describe("advanceRegistry: one incarnation of a full name at a time", () => {
  it("starts waiting incarnations in order of arrival, each when the previous one is gone", () => {
    const registry = node().send(...["a", "b", "c"].map((uid) => update("ADD", version(uid))));
    expect([registry.states(), registry.holders()]).toEqual(["a:syncing b:waiting c:waiting", { web_demo: "a" }]);
    registry.send(remove, said("stopped"));
    expect(registry.states()).toBe("a:terminated b:waiting c:waiting");
    registry.send(said("removed"));
    expect([registry.states(), registry.commands()]).toEqual(["b:syncing c:waiting", ["sync b one"]]);
    registry.send(update("REMOVE", version("b")), said("stopped", "b"), said("removed", "b"));
    expect([registry.states(), registry.holders()]).toEqual(["c:syncing", { web_demo: "c" }]);
  });

  it("starts a waiting incarnation at its newest version", () => {
    const registry = node().send(add, update("ADD", version("b")), update("UPDATE", version("b", {}, "two")));
    registry.send(remove, said("stopped"), said("removed"));
    expect(registry.commands()).toEqual(["sync b two"]);
  });

  it("passes the name on when the next incarnation is removed or rejected", () => {
    const registry = node({ admit: (pod) => (pod.metadata.uid === "c" ? REFUSE : ADMIT) });
    registry.send(...["a", "b", "c", "d"].map((uid) => update("ADD", version(uid))));
    registry.send(update("REMOVE", version("b")), remove, said("stopped"), said("removed"));
    expect([registry.states(), registry.commands()]).toEqual(["c:rejected d:syncing", ["sync d one"]]);
    expect(registry.step().rejections.map(({ pod }) => pod.metadata.uid)).toEqual(["c"]);
  });

  it("does not block pods of other names and namespaces", () => {
    const registry = node().send(
      add,
      update("ADD", version("b", { namespace: "other" })),
      update("ADD", version("c", { name: "api" })),
    );
    expect(registry.states()).toBe("a:syncing b:syncing c:syncing");
  });

  it("keeps the name of a finished pod until it is removed", () => {
    const registry = node().send(add, said("finished"), said("stopped"), update("ADD", version("b")));
    expect(registry.states()).toBe("a:terminated b:waiting");
  });

  it("restarts a pod under the same UID at its newest version once its first run is cleaned up", () => {
    const registry = node().send(add, remove, INPUTS.ADD, update("UPDATE", version("a", {}, "three")));
    registry.send(said("stopped"), said("removed"));
    expect([registry.states(), registry.commands(), registry.step().restarted]).toEqual([
      "a:syncing",
      ["sync a three"],
      ["a"],
    ]);
  });

  it("removes the first run only once, however often the source removes and adds the pod", () => {
    const registry = node().send(add, remove, said("stopped"));
    expect(registry.commands()).toEqual(["remove a"]);
    for (const input of [INPUTS.ADD, remove, INPUTS.ADD]) expect(registry.send(input).commands()).toEqual([]);
    expect(registry.send(said("removed")).commands()).toEqual(["sync a two"]);
  });

  it("ignores a late input about an earlier run under the same UID", () => {
    const dropped = node({ admit: () => REFUSE }).send(add, remove);
    dropped.context = { ...dropped.context, admit: () => ADMIT };
    dropped.send(add, said("removed"));
    expect([dropped.states(), dropped.commands()]).toEqual(["a:syncing", []]);
  });
});

describe("advanceRegistry: grace periods", () => {
  const deleteWithin = (seconds: number) => update("DELETE", version("a", { deletionGracePeriodSeconds: seconds }));

  it("only ever shrink while the pod terminates", () => {
    const registry = node().send(add, deleteWithin(20));
    const reported = [40, 20, 10, 15, 1, 0].map((seconds) => registry.send(deleteWithin(seconds)).commands());
    expect(reported).toEqual([[], [], ["terminating a 10"], [], ["terminating a 1"], []]);
    expect(registry.record("a")?.graceSeconds).toBe(1);
  });

  it("start from the spec's when the source does not say, and then shrink only", () => {
    const registry = node().send(add, remove);
    expect(registry.commands()).toEqual(["terminating a 30"]);
    expect(registry.send(deleteWithin(60)).commands()).toEqual([]);
    expect(registry.send(deleteWithin(5)).commands()).toEqual(["terminating a 5"]);
  });

  it("may be longer than the spec's when the deletion says so from the start", () => {
    expect(node().send(add, deleteWithin(60)).commands()).toEqual(["sync a one", "terminating a 60"]);
  });

  it("are one second at least", () => {
    const impatient = version("a", { spec: { terminationGracePeriodSeconds: 0 } });
    expect(node().send(update("ADD", impatient), update("REMOVE", impatient)).commands()).toEqual(["terminating a 1"]);
  });

  it("shrink when a pod that exceeded its deadline is evicted as well, which does not replace the reason of its end", () => {
    const registry = node().send(update("ADD", version("a")), { kind: "deadlineExceeded", uid: podUid("a") });
    const [first] = registry.step().commands;
    registry.send({ kind: "evicted", uid: podUid("a"), graceSeconds: 1, isDisrupted: true, message: "too large" });
    const [second] = registry.step().commands;
    expect(first).toMatchObject({ graceSeconds: 30, override: { reason: "DeadlineExceeded" } });
    expect(second).toMatchObject({ graceSeconds: 1, override: { reason: "DeadlineExceeded" } });
  });

  it("of a pod that is rejected after its admission are those of its spec, and its status names the rejection", () => {
    const registry = node().send(update("ADD", version("a")));
    registry.send({ kind: "rejected", uid: podUid("a"), reason: "VolumeAttachmentLimitExceeded", message: "too many" });
    const override = {
      phase: "Failed",
      reason: "VolumeAttachmentLimitExceeded",
      message: "Pod was rejected: too many",
    };
    expect(registry.step().commands).toMatchObject([{ phase: "terminating", graceSeconds: 30, override }]);
  });

  it("shrink when a terminating pod is deleted", () => {
    expect(node().send(add, said("finished"), deleteWithin(3)).commands()).toEqual(["terminating a 3"]);
  });
});

describe("advanceRegistry: pods of earlier processes", () => {
  it("returns the same registry after a resync without changes, so that no subscriber is notified", () => {
    const context: RegistryContext = { ...OPEN, runtimePods: [listed("a")] };
    const { registry } = advanceRegistry({ ...emptyRegistry, isSettled: true }, update("ADD", version("a")), context);
    expect(advanceRegistry(registry, { kind: "resync" }, context).registry).toBe(registry);
  });

  it("terminates and removes an orphaned pod at a resync", () => {
    const registry = node({ runtimePods: [listed("old")] }).send({ kind: "resync" });
    expect([registry.states(), registry.commands(), registry.step().orphans]).toEqual([
      "old:terminating",
      ["terminating old 1"],
      ["old"],
    ]);
    expect(registry.record("old")).toEqual({
      identity: { uid: "old", name: "web", namespace: "demo" },
      pod: undefined,
      state: "terminating",
      wanted: false,
      evicted: false,
      graceSeconds: 1,
      leaving: { due: { criticalPods: 10_000, everyone: 61_000 }, overdueFor: undefined },
      reclaimed: false,
      behind: [],
      victims: [],
      successor: undefined,
    });
    expect(registry.send({ kind: "resync" }).commands()).toEqual([]);
    expect(registry.send(said("stopped", "old")).commands()).toEqual(["remove old"]);
    registry.context = { ...registry.context, runtimePods: [] };
    expect(registry.send(said("removed", "old")).states()).toBe("");
  });

  it("skips admission for a terminal pod, and gives its resources to others", () => {
    const over = { ...version("a"), status: { phase: "Succeeded" } };
    const next = version("b", { name: "other" });
    const otherCounts: number[] = [];
    const registry = node({
      admit: (pod, others) => {
        otherCounts.push(others.length);
        return pod.metadata.uid === "a" ? REFUSE : ADMIT;
      },
    }).send(update("ADD", over, next));
    expect([registry.states(), otherCounts]).toEqual(["a:syncing b:syncing", [0]]);
  });

  it("is settled once a resync found every source ready", () => {
    const isSettled = (sourcesReady: boolean) =>
      node({ sourcesReady }).send(add, { kind: "resync" }).step().registry.isSettled;
    expect([node().send(add).step().registry.isSettled, isSettled(false), isSettled(true)]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it("marks a pod as reclaimed only after it has stopped", () => {
    const registry = node().send(add, said("finished"), said("reclaimed"));
    const before = registry.record("a")?.reclaimed;
    registry.send(said("stopped"), said("reclaimed"));
    expect([before, registry.record("a")?.reclaimed, registry.commands()]).toEqual([false, true, []]);
  });

  it("starts a desired pod that is already running without asking admission again", () => {
    const registry = node({ runtimePods: [listed("a")], admit: () => REFUSE }).send(add, { kind: "resync" });
    expect([registry.states(), registry.commands()]).toEqual(["a:syncing", []]);
  });

  it("counts pods that run since before a restart, before their source has reported them", () => {
    const cpu = { main: { requests: { cpu: "2" } } };
    const asked: (readonly string[])[] = [];
    const context: Partial<RegistryContext> = {
      runtimePods: [listed("runs", { name: "other" }), listed("ended", { name: "old", running: false })],
      admit: (_, others) => {
        asked.push(
          others.map(({ metadata, spec }) => `${metadata.name} ${spec.containers[0]?.resources?.requests?.["cpu"]}`),
        );
        return ADMIT;
      },
    };
    const allocations = new Map(
      ["runs", "ended"].map((uid) => [podUid(uid), { allocation: { containers: cpu }, resizing: false }]),
    );
    const registry = node(context).send({ kind: "restored", allocations }, add);
    // Decides without it, since it may belong to no source, and beside it.
    expect(asked).toEqual([[], ["other 2"], ["other 2"]]);
    registry.send(update("ADD", version("runs", { name: "other" })), update("ADD", version("b", { name: "third" })));
    expect(asked.at(-1)?.map((each) => each.split(" ")[0])).toEqual(["web", "other"]);
  });

  it("grants no resize from the resources of a running pod that its source has not reported", () => {
    const sized = (cpu: string): Pod =>
      version("a", { spec: { containers: [{ name: "main", image: "one", resources: { requests: { cpu } } }] } });
    const context: Partial<RegistryContext> = {
      runtimePods: [listed("a"), listed("other", { name: "other" })],
      admit: (_, others) => (others.length > 0 ? REFUSE : ADMIT),
    };
    const allocations = new Map(
      ["a", "other"].map((uid) => [podUid(uid), { allocation: allocationOf(sized("1")), resizing: false }]),
    );
    const registry = node(context).send({ kind: "restored", allocations }, update("ADD", sized("2")));
    expect(registry.record("a")?.refused).toEqual({ reason: "Deferred", message: "full" });
  });

  it("asks admission about a desired pod with exited containers only", () => {
    const registry = node({ runtimePods: [listed("a", { running: false })], admit: () => REFUSE }).send(add);
    expect(registry.states()).toBe("a:rejected");
  });

  it("terminates an older running incarnation before the new one starts", () => {
    const registry = node({ runtimePods: [listed("old"), listed("other", { name: "api" })] }).send(add);
    expect([registry.states(), registry.commands()]).toEqual(["a:waiting old:terminating", ["terminating old 1"]]);
    registry.send(said("stopped", "old"));
    registry.context = { ...registry.context, runtimePods: [listed("other", { name: "api" })] };
    registry.send(said("removed", "old"));
    expect([registry.states(), registry.commands()]).toEqual(["a:syncing", ["sync a one"]]);
  });

  it("starts only after every older incarnation is gone", () => {
    const registry = node({ runtimePods: [listed("old"), listed("older")] }).send(add);
    expect(registry.commands()).toEqual(["terminating old 1", "terminating older 1"]);
    registry.context = { ...registry.context, runtimePods: [] };
    registry.send(said("stopped", "old"), said("removed", "old"));
    expect([registry.states(), registry.holders()]).toEqual(["a:waiting older:terminating", { web_demo: "older" }]);
    registry.send(said("stopped", "older"), said("removed", "older"));
    expect([registry.states(), registry.holders()]).toEqual(["a:syncing", { web_demo: "a" }]);
  });

  it("waits for no older incarnation that has stopped, though the listing still shows it", () => {
    const registry = node({ runtimePods: [listed("old", { running: false })] }).send(add);
    expect([registry.states(), registry.commands()]).toEqual(["a:syncing", ["sync a one"]]);
  });

  it("restarts an orphan's UID when a source adds that pod", () => {
    const registry = node({ runtimePods: [listed("a")] }).send({ kind: "resync" }, add);
    expect([registry.states(), registry.commands()]).toEqual(["a:terminating", []]);
    registry.send(said("stopped"));
    registry.context = { ...registry.context, runtimePods: [] };
    expect(registry.send(said("removed")).commands()).toEqual(["sync a one"]);
  });
});

describe("advanceRegistry: resources that a resized pod frees", () => {
  const sized = (uid: string, cpu: string): Pod =>
    version(uid, {
      name: uid,
      spec: { containers: [{ name: "main", image: cpu, resources: { requests: { cpu } } }] },
    });
  const kept = (pod: Pod): RegistryInput => ({ kind: "kept", uid: podUid(pod.metadata.uid), pod });
  /** A node of 4 CPUs on which `a` has shrunk from 3 to 1, and `b` asks for 2. */
  const shrunk = () => {
    const cpus = (pods: readonly Pod[]) => pods.reduce((sum, pod) => sum + resourceMilli(podRequests(pod), "cpu"), 0n);
    const admit: RegistryContext["admit"] = (pod, others) => (cpus([pod, ...others]) <= 4000n ? ADMIT : REFUSE);
    return node({ admit }).send(
      update("ADD", sized("a", "3")),
      update("UPDATE", sized("a", "1")),
      update("ADD", sized("b", "2")),
    );
  };

  it("are free once the smaller size is on disk", () => {
    const registry = shrunk();
    expect([registry.states(), registry.commands()]).toEqual(["a:syncing b:waiting", []]);
    expect(registry.send(kept(sized("a", "3"))).states()).toBe("a:syncing b:waiting");
    expect(registry.send(kept(sized("a", "1"))).commands()).toEqual(["sync b 2"]);
  });

  it("are held up to the largest size since the one on disk", () => {
    const registry = shrunk().send(update("UPDATE", sized("a", "2")), update("UPDATE", sized("a", "1500m")));
    expect(registry.send(kept(sized("a", "1"))).states()).toBe("a:syncing b:waiting");
    expect(registry.send(kept(sized("a", "1500m"))).commands()).toEqual(["sync b 2"]);
  });

  it("are free once the pod has stopped", () => {
    const registry = shrunk().send(update("REMOVE", sized("a", "1")));
    expect(registry.states()).toBe("a:terminating b:waiting");
    expect(registry.send(said("stopped")).commands()).toEqual(["remove a", "sync b 2"]);
  });
});

describe("advanceRegistry: admission", () => {
  it("rejects a pod with reason and message until its source removes it", () => {
    const registry = node({ admit: () => REFUSE }).send(add);
    expect(registry.step().rejections).toEqual([{ pod: version("a"), reason: "OutOfpods", message: "full" }]);
    registry.context = { ...registry.context, admit: () => ADMIT };
    expect(registry.send(INPUTS.UPDATE).states()).toBe("a:rejected");
    expect(registry.send(remove, add).states()).toBe("a:syncing");
  });

  it("counts only syncing and terminating pods as active", () => {
    const asked: string[][] = [];
    const registry = node({
      admit: (pod, active) => {
        asked.push([pod.metadata.uid, ...active.map(({ metadata }) => metadata.uid)]);
        return pod.metadata.uid === "refused" ? REFUSE : ADMIT;
      },
    });
    const named = (uid: string) => update("ADD", version(uid, { name: uid }));
    registry.send(
      named("syncs"),
      named("ends"),
      named("over"),
      named("refused"),
      update("ADD", version("waits", { name: "syncs" })),
    );
    registry.send(said("finished", "ends"), said("finished", "over"), said("stopped", "over"));
    asked.length = 0;
    registry.send(named("new"));
    expect(asked).toContainEqual(["new", "syncs", "ends"]);
    expect(asked.flat()).not.toContain("over");
  });

  const critical = (image = "one"): Pod =>
    version("critical", { name: "critical", spec: { priority: 2_000_000_000 } }, image);
  /** A critical pod has come that fits in place of `small`. */
  const preempting = () => {
    const admit = (_: Pod, others: readonly Pod[]): AdmissionResult => ({
      admitted: true,
      preempt: others.map(({ metadata }) => podUid(metadata.uid)),
      shortOf: "cpu",
    });
    const registry = node().send(update("ADD", version("small", { name: "small" })));
    registry.context = { ...registry.context, admit };
    return registry.send(update("ADD", critical()));
  };

  it("terminates pods preempted for a critical pod, with the reason", () => {
    const registry = preempting();
    expect(registry.states()).toBe("small:terminating critical:waiting");
    expect(registry.step().commands[0]).toEqual({
      phase: "terminating",
      identity: { uid: "small", name: "small", namespace: "demo" },
      pod: version("small", { name: "small" }),
      graceSeconds: 30,
      override: {
        phase: "Failed",
        reason: "Preempting",
        message: "Preempted in order to admit critical pod",
        disruption: "Pod was preempted by Kubelet to accommodate a critical pod.",
      },
    });
    expect(registry.commands()).toEqual(["terminating small 30"]);
    expect(registry.step().preempted).toEqual([
      { uid: "small", pod: version("small", { name: "small" }), graceSeconds: 30, shortOf: "cpu" },
    ]);
  });

  it("starts the critical pod once they have stopped, and repeats no command", () => {
    const registry = preempting().send(update("UPDATE", critical("two")));
    expect([registry.states(), registry.commands()]).toEqual(["small:terminating critical:waiting", []]);
    registry.send(said("stopped", "small"));
    expect([registry.states(), registry.commands()]).toEqual([
      "small:terminated critical:syncing",
      ["keep small", "sync critical two"],
    ]);
  });

  it("starts the critical pod beside a pod that does not stop, and no other pod in its place", () => {
    const registry = preempting().send({ kind: "overdue", uid: podUid("small"), for: "criticalPods" });
    expect([registry.states(), registry.commands()]).toEqual([
      "small:terminating critical:syncing",
      ["sync critical one"],
    ]);
    const asked: (readonly string[])[] = [];
    const admit = (_: Pod, others: readonly Pod[]): AdmissionResult => {
      asked.push(others.map(({ metadata }) => metadata.uid));
      return ADMIT;
    };
    registry.context = { ...registry.context, admit };
    registry.send(update("ADD", version("next", { name: "next" })));
    expect(asked).toContainEqual(["small", "critical"]);
  });

  it("ignores the deadline of a pod that has stopped in time", () => {
    const registry = preempting().send(said("stopped", "small"), {
      kind: "overdue",
      uid: podUid("small"),
      for: "criticalPods",
    });
    expect([registry.states(), registry.record("small")?.leaving?.overdueFor]).toEqual([
      "small:terminated critical:syncing",
      undefined,
    ]);
  });

  it("forgets a critical pod that is removed before that", () => {
    const registry = preempting().send(update("REMOVE", critical()));
    expect([registry.states(), registry.step().dropped]).toEqual(["small:terminating", ["critical"]]);
  });
});

describe("advanceRegistry: draining", () => {
  it("terminates running pods, drops waiting ones, removes terminated ones, and starts no others", () => {
    const registry = node({ admit: (pod) => (pod.metadata.uid === "refused" ? REFUSE : ADMIT) });
    const named = (uid: string) => update("ADD", version(uid, { name: uid }));
    registry.send(named("runs"), update("ADD", version("waits", { name: "runs" })), named("refused"), named("over"));
    registry.send(said("finished", "over"), said("stopped", "over"), { kind: "drain" });
    expect([registry.states(), registry.commands(), registry.step().dropped]).toEqual([
      "runs:terminating over:terminated",
      ["terminating runs 30", "remove over"],
      ["waits", "refused"],
    ]);
    registry.send(said("removed", "over"), said("stopped", "runs"), said("removed", "runs"));
    expect([registry.states(), registry.holders()]).toEqual(["", {}]);
  });

  it("forgets successors", () => {
    const registry = node().send(add, remove, INPUTS.ADD, { kind: "drain" }, said("stopped"), said("removed"));
    expect(registry.states()).toBe("");
  });
});
