/** Pods from disk, and whole states of a source, in the pod registry. */
import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import { monotonicMs, podUid } from "../../../../src/core/ids.ts";
import {
  advanceRegistry,
  emptyRegistry,
  type Registry,
  type RegistryContext,
} from "../../../../src/core/pod/podRegistry.ts";
import type { PodOperation } from "../../../../src/core/pod/podUpdate.ts";
import { markRestored } from "../../../../src/core/pod/restoredMark.ts";
import type { PodSource } from "../../../../src/core/pod/sourceSnapshot.ts";
import { ALL_RESIZABLE, podOf } from "../../../support/pods.ts";

const context = (refuses: boolean): RegistryContext => ({
  now: monotonicMs(0),
  parts: ALL_RESIZABLE,
  admit: () => (refuses ? { admitted: false, reason: "OutOfcpu", message: "no" } : { admitted: true, preempt: [] }),
  infeasible: () => undefined,
  sourcesReady: false,
  runtimePods: [],
});

const podFrom = (source: PodSource, uid: string, more: Parameters<typeof podOf>[0] = {}): Pod =>
  podOf({ uid, name: uid, ...more, annotations: { "kubernetes.io/config.source": source, ...more.annotations } });
const disk = (uid: string, more: Parameters<typeof podOf>[0] = {}): Pod => markRestored(podFrom("api", uid, more));

const deleted = (pod: Pod): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
});

/** A registry after updates of the API source; the states of its pods, and its last commands. */
function after(refuses: boolean, ...updates: readonly (readonly [PodOperation, PodSource, ...(readonly Pod[])])[]) {
  let registry: Registry = emptyRegistry;
  let commands: readonly string[] = [];
  for (const [op, source, ...pods] of updates) {
    const step = advanceRegistry(registry, { kind: "update", update: { op, source, pods } }, context(refuses));
    registry = step.registry;
    commands = step.commands.map(({ phase, identity }) => `${phase} ${identity.uid}`);
  }
  const states = Object.fromEntries(
    [...registry.records].map(([uid, { state, wanted }]) => [uid, wanted ? state : `${state}, unwanted`]),
  );
  return { registry, commands, states };
}

describe("RESTORE", () => {
  it("adds pods, which admission judges by the node's resources like others", () => {
    expect(after(false, ["RESTORE", "api", disk("a")]).states).toEqual({ a: "syncing" });
    expect(after(true, ["RESTORE", "api", disk("a")]).states).toEqual({ a: "rejected" });
  });

  it("ends a pod that was deleted before", () => {
    const { commands } = after(false, ["RESTORE", "api", deleted(disk("a"))]);
    expect(commands).toEqual(["terminating a"]);
  });

  it("keeps the end of a pod that the API server has not heard of", () => {
    const ended = { ...disk("a"), status: { phase: "Failed", reason: "Evicted" } } as Pod;
    const older = { ...podFrom("api", "a"), status: { phase: "Running" } } as Pod;
    const { registry } = after(false, ["RESTORE", "api", ended], ["SET", "api", older]);
    const { pod } = registry.records.get(podUid("a")) ?? {};
    expect([pod?.status, pod?.metadata.annotations?.["rxlet.dev/restored"]]).toEqual([ended.status, undefined]);
  });

  it("keeps restarts that the API server has not heard of, and takes those that it has", () => {
    const counted = (pod: Pod, ...restarts: readonly number[]): Pod => ({
      ...pod,
      status: {
        phase: "Running",
        containerStatuses: restarts.map((restartCount, index) => ({
          ...{ name: `c${index}`, image: "", imageID: "", ready: true },
          restartCount,
        })),
      },
    });
    const { registry } = after(
      false,
      ["RESTORE", "api", counted(disk("a"), 3, 1, 2)],
      ["SET", "api", counted(podFrom("api", "a"), 2, 5)],
    );
    const counts = registry.records.get(podUid("a"))?.pod?.status?.containerStatuses;
    expect(Object.fromEntries(counts?.map(({ name, restartCount }) => [name, restartCount]) ?? [])).toEqual({
      c0: 3,
      c1: 5,
      c2: 2,
    });
  });
});

describe("SET", () => {
  it("adds, changes and ends pods of its source as its state says, and touches no other", () => {
    const { states, commands } = after(
      false,
      ["ADD", "file", podFrom("file", "static")],
      ["RESTORE", "api", disk("same"), disk("gone"), disk("deleted")],
      ["SET", "api", podFrom("api", "same"), podFrom("api", "new"), deleted(podFrom("api", "deleted"))],
    );
    expect(states).toEqual({
      static: "syncing",
      same: "syncing",
      gone: "terminating, unwanted",
      deleted: "terminating",
      new: "syncing",
    });
    expect(commands.toSorted()).toEqual([
      "sync deleted",
      "sync new",
      "sync same",
      "terminating deleted",
      "terminating gone",
    ]);
  });

  it("changes nothing when the registry has that state", () => {
    const pods = [podFrom("api", "a"), podFrom("api", "b")] as const;
    const { commands, states } = after(false, ["ADD", "api", ...pods], ["SET", "api", ...pods]);
    expect([commands, states]).toEqual([[], { a: "syncing", b: "syncing" }]);
  });

  it("of no pods removes all of its source", () => {
    const { states } = after(false, ["ADD", "api", podFrom("api", "a")], ["SET", "api"]);
    expect(states).toEqual({ a: "terminating, unwanted" });
  });
});
