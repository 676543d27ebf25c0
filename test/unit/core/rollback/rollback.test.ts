import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import { epochMs, fullNameOf, monotonicMs } from "../../../../src/core/ids.ts";
import {
  lookForRollbacks,
  restoredStates,
  ROLLBACK_AFTER,
  rollbackAfter,
  type RollbackLook,
  type RollbackRecord,
  type RollbackStates,
  rollbackViews,
} from "../../../../src/core/rollback/rollback.ts";
import { podOf } from "../../../support/pods.ts";

const WALL = 1_000_000;
const version = (uid: string, after: string | undefined = "1m"): Pod =>
  podOf({ uid, annotations: after === undefined ? {} : { [ROLLBACK_AFTER]: after } });
const [V1, V2, V3] = [version("v1"), version("v2"), version("v3")];
const NAME = fullNameOf(V1.metadata);

/** A node whose good versions and clock a test sets. */
function node(start: RollbackStates = new Map()) {
  let states = start;
  const world = { good: new Set<string>(), now: 0, wall: WALL, boot: "b", isWell: true, keepsMissing: false };
  const look = (): RollbackLook => ({
    now: { wall: epochMs(world.wall + world.now), mono: monotonicMs(world.now) },
    boot: world.boot,
    isGood: (uid) => world.good.has(uid),
    why: () => "because",
    isWell: world.isWell,
  });
  return {
    world,
    see: (...pods: readonly Pod[]) => {
      const step = lookForRollbacks(states, pods, world.keepsMissing, look());
      states = step.states;
      return {
        runs: step.pods.map(({ metadata }) => metadata.uid),
        writes: [...step.writes.values()].map((record) => record && shown(record)),
        events: step.rolledBack.map(({ failed, good }) => `${failed.metadata.uid} -> ${good.metadata.uid}`),
        wakeAt: step.wakeAt,
      };
    },
    views: () => rollbackViews(states),
  };
}

const shown = ({ good, trial, failed }: RollbackRecord): string =>
  [`good ${good?.metadata.uid}`, trial && `trial ${trial.uid}`, failed && `failed ${failed.uid}`]
    .filter((word) => word !== undefined)
    .join(", ");
const QUIET = { writes: [], events: [], wakeAt: undefined };

/** A node whose first version is good. */
function running(pod = V1) {
  const found = node();
  found.see(pod);
  found.world.good.add(pod.metadata.uid);
  found.see(pod);
  return found;
}

describe("the annotation", () => {
  it.each([
    ["2m", { ms: 120_000 }],
    ["1s", { ms: 1_000 }],
    ["24h", { ms: 86_400_000 }],
  ])("%s is accepted", (after, value) => {
    expect(rollbackAfter(version("v", after))).toEqual(value);
  });
  it.each(["", "999ms", "24h1s", "-1m", "two", "9".repeat(500)])("%j is refused", (after) => {
    expect(rollbackAfter(version("v", after))).toEqual({
      fault: `Invalid value: ${JSON.stringify(after.slice(0, 100))}: must be a duration from 1s to 24h, such as 2m`,
    });
  });
  it("may be missing", () => {
    expect(rollbackAfter(podOf())).toBeUndefined();
  });
});

describe("a manifest", () => {
  it("has no rollback before it was good once", () => {
    const { see, world } = node();
    expect(see(V1)).toEqual({ ...QUIET, runs: ["v1"] });
    world.now = 3_600_000;
    expect(see(V2)).toEqual({ ...QUIET, runs: ["v2"] });
  });

  it("is written when it becomes good, once", () => {
    const { see, world } = node();
    see(V1);
    world.good.add("v1");
    expect(see(V1)).toEqual({ ...QUIET, runs: ["v1"], writes: ["good v1"] });
    expect(see(V1)).toEqual({ ...QUIET, runs: ["v1"] });
  });

  it("is tried after a change, and good once it is Ready", () => {
    const { see, world, views } = running();
    expect(see(V2)).toEqual({ runs: ["v2"], writes: ["good v1, trial v2"], events: [], wakeAt: 60_000 });
    expect(views()).toEqual([
      { uid: "v2", cause: expect.stringContaining("unless its pod becomes Ready"), dueAt: 60_000 },
    ]);
    world.now = 59_999;
    expect(see(V2)).toEqual({ runs: ["v2"], writes: [], events: [], wakeAt: 60_000 });
    world.good.add("v2");
    expect(see(V2)).toEqual({ ...QUIET, runs: ["v2"], writes: ["good v2"] });
    expect(views()).toEqual([]);
  });

  it("runs its last good version at the end of its time, until it changes", () => {
    const { see, world, views } = running();
    see(V2);
    world.now = 60_000;
    expect(see(V2)).toEqual({ ...QUIET, runs: ["v1"], writes: ["good v1, failed v2"], events: ["v2 -> v1"] });
    expect(see(V2)).toEqual({ ...QUIET, runs: ["v1"] });
    expect(views()).toEqual([{ uid: "v1", cause: expect.stringContaining("failed (because)"), dueAt: undefined }]);
    expect(see(V3)).toEqual({ runs: ["v3"], writes: ["good v1, trial v3"], events: [], wakeAt: 120_000 });
  });

  it("goes back to its good version without a restart", () => {
    const { see, world } = running();
    see(V2);
    world.now = 60_000;
    see(V2);
    expect(see(V1)).toEqual({ ...QUIET, runs: ["v1"], writes: ["good v1"] });
  });

  it("begins another trial with each change", () => {
    const { see, world } = running();
    see(V2);
    world.now = 50_000;
    expect(see(V3)).toMatchObject({ runs: ["v3"], wakeAt: 110_000, writes: ["good v1, trial v3"] });
    expect(see(V2)).toMatchObject({ runs: ["v2"], wakeAt: 110_000 });
  });

  it("needs the annotation only in the changed version", () => {
    const plain = podOf({ uid: "plain" });
    const { see, world } = running(plain);
    expect(see(plain)).toEqual({ ...QUIET, runs: ["plain"] });
    expect(see(V2)).toMatchObject({ writes: ["good plain, trial v2"] });
    world.now = 60_000;
    expect(see(V2)).toMatchObject({ runs: ["plain"], events: ["v2 -> plain"] });
  });

  it("stops keeping versions without the annotation", () => {
    const { see, world } = running();
    expect(see(podOf({ uid: "plain" }))).toEqual({ ...QUIET, runs: ["plain"] });
    world.good.add("plain");
    expect(see(podOf({ uid: "plain" }))).toEqual({ ...QUIET, runs: ["plain"], writes: [undefined] });
  });

  it("does not fail while the node is not well", () => {
    const { see, world } = running();
    see(V2);
    Object.assign(world, { now: 60_000, isWell: false });
    expect(see(V2)).toEqual({ runs: ["v2"], writes: [], events: [], wakeAt: 70_000 });
    Object.assign(world, { now: 70_000, isWell: true });
    expect(see(V2)).toMatchObject({ runs: ["v1"], events: ["v2 -> v1"] });
  });

  it("keeps its record while it is missing for a moment, and while a manifest cannot be read", () => {
    const { see, world } = running();
    expect(see()).toEqual({ runs: [], writes: [], events: [], wakeAt: 10_000 });
    world.now = 9_999;
    expect(see(V2)).toMatchObject({ writes: ["good v1, trial v2"] });
    expect(see()).toMatchObject({ writes: [], wakeAt: 19_999 });
    Object.assign(world, { now: 50_000, keepsMissing: true });
    expect(see()).toMatchObject({ writes: [], wakeAt: undefined });
    world.keepsMissing = false;
    expect(see()).toMatchObject({ writes: [], wakeAt: 60_000 });
    world.now = 60_000;
    expect(see()).toEqual({ ...QUIET, runs: [], writes: [undefined] });
    expect(see(V3)).toEqual({ ...QUIET, runs: ["v3"] });
  });

  it("has a record of its own", () => {
    const other = podOf({ uid: "other", name: "other" });
    const { see, world } = running();
    see(V2, other);
    world.now = 60_000;
    expect(see(V2, other).runs).toEqual(["v1", "other"]);
  });
});

describe("after a restart of the kubelet", () => {
  const restored = (record: Partial<RollbackRecord>) =>
    node(restoredStates(new Map([[NAME, { good: V1, trial: undefined, failed: undefined, ...record }]])));
  const trial = (boot: string) => ({ uid: "v2", startedAt: epochMs(WALL), boot });

  it("a trial goes on", () => {
    const { see, world } = restored({ trial: trial("b") });
    world.now = 20_000;
    expect(see(V2)).toEqual({ runs: ["v2"], writes: [], events: [], wakeAt: 60_000 });
  });

  it("a trial whose time is over has half a minute more, in which the pod may be seen Ready", () => {
    const { see, world } = restored({ trial: trial("b") });
    world.now = 3_600_000;
    expect(see(V2)).toMatchObject({ runs: ["v2"], wakeAt: 3_630_000 });
  });

  it("a trial has its whole time after another boot, and after the clock was set back", () => {
    const booted = restored({ trial: trial("before") });
    booted.world.now = 3_600_000;
    expect(booted.see(V2)).toMatchObject({ runs: ["v2"], wakeAt: 3_660_000, writes: ["good v1, trial v2"] });
    const setBack = restored({ trial: trial("b") });
    setBack.world.wall = 0;
    expect(setBack.see(V2)).toMatchObject({ runs: ["v2"], wakeAt: 60_000 });
  });

  it("a failed version stays failed, without another event", () => {
    const { see } = restored({ failed: { uid: "v2", at: epochMs(WALL), why: "because" } });
    expect(see(V2)).toEqual({ ...QUIET, runs: ["v1"] });
  });

  it("a manifest that changed meanwhile is tried", () => {
    const { see } = restored({ failed: { uid: "v2", at: epochMs(WALL), why: "because" } });
    expect(see(V3)).toMatchObject({ runs: ["v3"], writes: ["good v1, trial v3"] });
  });
});
