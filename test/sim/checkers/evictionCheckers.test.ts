/** Checkers of evictions, pressure conditions and kills by the kernel. */
import { describe, expect, it } from "vitest";
import type { PodStatus } from "../../../src/core/api.ts";
import { evictedAreTold } from "../../../src/sim/checkers/evictedAreTold.ts";
import { evictionOrder } from "../../../src/sim/checkers/evictionOrder.ts";
import { liveContainers } from "../../../src/sim/checkers/liveContainers.ts";
import { oneEvictionAtATime } from "../../../src/sim/checkers/oneEvictionAtATime.ts";
import { oomKillsAreTold } from "../../../src/sim/checkers/oomKillsAreTold.ts";
import { pressureLasts } from "../../../src/sim/checkers/pressureLasts.ts";
import type { SimMeasurement, UntimedObservation } from "../../../src/sim/simObservation.ts";
import { containerOf } from "../../support/pods.ts";
import { change, running, started, status, type Step, verdicts, wanted } from "./observations.ts";

type Case = readonly [what: string, steps: readonly Step[], found: readonly string[]];

const MIB = 2 ** 20;

const event = (reason: string, uid = "", message = ""): UntimedObservation => ({
  kind: "event",
  event: {
    type: "Warning",
    reason,
    message,
    object: { kind: "Pod", namespace: "demo", name: uid, uid, fieldPath: "" },
  },
});
const evicted = (uid: string, resource = "memory"): UntimedObservation =>
  event("Evicted", uid, `The node was low on resource: ${resource}. `);
const measured = (measurement: SimMeasurement): UntimedObservation => ({ kind: "measured", measurement });
const memory = (availableMib: number): UntimedObservation =>
  measured({ what: "memory", availableBytes: availableMib * MIB, capacityBytes: 1_000 * MIB });
const uses = (mib: Readonly<Record<string, number>>): UntimedObservation =>
  measured({
    what: "pods",
    memoryBytes: new Map(Object.entries(mib).map(([uid, count]) => [uid, count * MIB])),
    tasks: new Map(),
  });

const threads = (counts: Readonly<Record<string, number>>): UntimedObservation =>
  measured({ what: "pods", memoryBytes: new Map(), tasks: new Map(Object.entries(counts)) });
const writes = (podUid: string, mib: number, inodes = 1): UntimedObservation => ({
  kind: "written",
  podUid,
  path: `/${podUid}`,
  bytes: mib * MIB,
  inodes,
});
const runs = (uid: string): UntimedObservation => status(undefined, { phase: "Running" }, uid);

const podOf = (uid: string, priority: number, requestMib = 50) => ({
  uid,
  name: uid,
  spec: { priority, containers: [containerOf({ resources: { requests: { memory: `${requestMib}Mi` } } })] },
});
const LOW_HIGH = wanted(podOf("low", 0), podOf("high", 9));

describe("evictionOrder", () => {
  it.each<Case>([
    ["accepts the pod of lower priority", [LOW_HIGH, uses({ low: 60, high: 90 }), evicted("low")], []],
    [
      "reports the pod of higher priority",
      [LOW_HIGH, uses({ low: 60, high: 90 }), evicted("high")],
      ["demo/high was evicted for memory before low"],
    ],
    ["accepts the only pod that exceeds its request", [LOW_HIGH, uses({ low: 40, high: 60 }), evicted("high")], []],
    [
      "reports the pod that uses less beyond its request",
      [wanted(podOf("a", 0), podOf("b", 0, 90)), uses({ a: 80, b: 100 }), evicted("b")],
      ["demo/b was evicted for memory before a"],
    ],
    [
      "accepts either pod while the figures disagree",
      [LOW_HIGH, uses({ low: 40, high: 60 }), uses({ low: 60, high: 60 }), evicted("high")],
      [],
    ],
    [
      "accepts a pod that the kubelet has not seen running",
      [LOW_HIGH, status(undefined, { phase: "Pending" }, "high"), uses({ low: 60, high: 90 }), evicted("high")],
      [],
    ],
    [
      "reports it once the kubelet has",
      [
        LOW_HIGH,
        status(undefined, { phase: "Pending" }, "high"),
        runs("high"),
        uses({ low: 60, high: 90 }),
        evicted("high"),
      ],
      ["demo/high was evicted for memory before low"],
    ],
    ["accepts a pod without figures", [LOW_HIGH, uses({ low: 60 }), evicted("high")], []],
    [
      "does not compare with an evicted pod",
      [LOW_HIGH, uses({ low: 60, high: 60 }), evicted("low"), LOW_HIGH, evicted("high")],
      [],
    ],
    [
      "accepts either pod after a resize whose size in force is not known",
      [LOW_HIGH, wanted(podOf("low", 0, 70)), uses({ low: 60, high: 90 }), evicted("high")],
      [],
    ],
    [
      "knows such a resize after a restart of the kubelet",
      [LOW_HIGH, wanted(podOf("low", 0, 70)), started, LOW_HIGH, uses({ low: 60, high: 90 }), evicted("high")],
      [],
    ],
    [
      "compares pods again that the kubelet before knew with the same size",
      [LOW_HIGH, started, LOW_HIGH, uses({ low: 60, high: 90 }), evicted("high")],
      ["demo/high was evicted for memory before low"],
    ],
    [
      "reports a critical pod",
      [wanted(podOf("dns", 2_000_000_000)), evicted("dns", "inodes")],
      ["demo/dns was evicted, but is critical"],
    ],
  ])("%s", (_, steps, found) => {
    expect(verdicts(evictionOrder(), steps)).toEqual(found);
  });

  it("reports a static pod", () => {
    const fromFile = { ...wanted(podOf("static", 0)), source: "file" } as UntimedObservation;
    expect(verdicts(evictionOrder(), [fromFile, evicted("static")])).toEqual([
      "demo/static was evicted, but is critical",
    ]);
  });
});

describe("evictionOrder for disks and process ids", () => {
  const A_B = wanted(podOf("a", 0), podOf("b", 0));
  /** Both pods run and have written so much, long before the eviction. */
  const wrote = (a: readonly [mib: number, inodes?: number], b: readonly [mib: number, inodes?: number]) =>
    [
      [0, A_B],
      [0, runs("a")],
      [0, runs("b")],
      [1, writes("a", ...a)],
      [1, writes("b", ...b)],
    ] as const;
  const then = (uid: string, resource: string): readonly Step[] => [
    [200, uses({ a: 1, b: 1 })],
    [200, evicted(uid, resource)],
  ];
  const BYTES = "ephemeral-storage";
  it.each<Case>([
    ["accepts the pod that has written most", [...wrote([9], [50]), ...then("b", BYTES)], []],
    [
      "reports the pod that has written less",
      [...wrote([90], [50]), ...then("b", BYTES)],
      ["demo/b was evicted for ephemeral-storage before a"],
    ],
    ["accepts either pod with nearly equal amounts", [...wrote([50.5], [50]), ...then("b", BYTES)], []],
    [
      "reports the pod with fewer inodes, whatever it has written",
      [...wrote([1, 9_000], [50, 10]), ...then("b", "inodes")],
      ["demo/b was evicted for inodes before a"],
    ],
    [
      "accepts either pod while an older measurement may count",
      [...wrote([10], [50]), [150, writes("a", 90)], ...then("b", BYTES)],
      [],
    ],
    [
      "accepts a pod that has just started",
      [[0, A_B], [0, runs("a")], [1, writes("a", 90)], [150, runs("b")], ...then("b", BYTES)],
      [],
    ],
    [
      "reports a pod of higher priority that fills the disk as well",
      [[0, wanted(podOf("a", 0), podOf("b", 5))], ...wrote([40], [90]).slice(1), ...then("b", BYTES)],
      ["demo/b was evicted for ephemeral-storage before a"],
    ],
    [
      "accepts the pod that fills the disk before one of lower priority that does not",
      [[0, wanted(podOf("a", 0), podOf("b", 5))], ...wrote([0], [90]).slice(1), ...then("b", BYTES)],
      [],
    ],
    ["accepts the pod with most threads", [A_B, threads({ a: 3, b: 7 }), evicted("b", "pids")], []],
    [
      "reports the pod with fewer threads",
      [A_B, threads({ a: 9, b: 7 }), evicted("b", "pids")],
      ["demo/b was evicted for pids before a"],
    ],
    [
      "accepts the pod of lower priority with fewer threads",
      [LOW_HIGH, threads({ low: 1, high: 9 }), evicted("low", "pids")],
      [],
    ],
  ])("%s", (_, steps, found) => {
    expect(verdicts(evictionOrder(), steps)).toEqual(found);
  });
});

describe("oneEvictionAtATime", () => {
  const runs = change("container started", "main#0", "first", "demo/first");
  const ends = change("container exited", "main#0", "first", "demo/first");
  const soft = { signal: "memory.available", least: { units: 500 }, graceMs: 1, reclaim: undefined } as const;
  const evictedAt = (uid: string, threshold: string): UntimedObservation =>
    event("Evicted", uid, `The node was low on resource: memory. Threshold quantity: ${threshold}, available: 1. `);
  it.each<Case>([
    [
      "accepts the next eviction at a hard threshold while a pod evicted at a soft one runs",
      [runs, evictedAt("first", "500"), evictedAt("second", "100")],
      [],
    ],
    [
      "reports the next eviction at a soft threshold while the first pod runs",
      [runs, evictedAt("first", "500"), evictedAt("second", "500")],
      ["demo/second was evicted while demo/first/main#0 of the last evicted pod runs"],
    ],
    ["accepts the next eviction once the first pod has stopped", [runs, evicted("first"), ends, evicted("second")], []],
    [
      "reports the next eviction while the first pod runs",
      [runs, evicted("first"), evicted("second")],
      ["demo/second was evicted while demo/first/main#0 of the last evicted pod runs"],
    ],
    ["accepts it after half a minute", [runs, [10, evicted("first")], [40, evicted("second")]], []],
    ["accepts it from the next kubelet", [runs, evicted("first"), started, evicted("second")], []],
    ["ignores evictions for limits of pods", [runs, event("Evicted", "first", "too much"), evicted("second")], []],
  ])("%s", (_, steps, found) => {
    expect(verdicts(oneEvictionAtATime(liveContainers(), { evictionThresholds: [soft] }), steps)).toEqual(found);
  });
});

describe("evictedAreTold", () => {
  const condition = { type: "DisruptionTarget", status: "True", reason: "TerminationByKubelet" };
  const failed: PodStatus = { phase: "Failed", reason: "Evicted", conditions: [condition] };
  const exitedWith = (exitCode: number): PodStatus => ({
    phase: "Succeeded",
    conditions: [condition],
    containerStatuses: [
      { name: "a", image: "", imageID: "", ready: false, restartCount: 0, state: { terminated: { exitCode } } },
    ],
  });
  const told = (after: PodStatus) => status(undefined, after, "uid-1");
  it.each<Case>([
    ["accepts the status of an evicted pod", [evicted("uid-1"), told(failed)], []],
    ["accepts an evicted pod that exits with 0", [evicted("uid-1"), told(exitedWith(0))], []],
    [
      "reports success of an evicted pod that exits with another code",
      [evicted("uid-1"), told(exitedWith(1))],
      ["demo/plain was evicted and is Succeeded (undefined)"],
    ],
    [
      "reports another reason",
      [evicted("uid-1"), told({ ...failed, reason: "Error" })],
      ["demo/plain was evicted and is Failed (Error)"],
    ],
    [
      "reports a missing condition",
      [evicted("uid-1"), told({ ...failed, conditions: [] })],
      ["demo/plain was evicted and is no DisruptionTarget"],
    ],
    [
      "accepts a pod that was over before",
      [told({ phase: "Succeeded" }), evicted("uid-1"), told({ phase: "Succeeded" })],
      [],
    ],
    [
      "accepts a pod that had passed its deadline before, with a late status",
      [event("DeadlineExceeded", "uid-1"), evicted("uid-1"), told({ phase: "Failed", reason: "DeadlineExceeded" })],
      [],
    ],
    [
      "reports a pod that passes its deadline after its eviction",
      [evicted("uid-1"), event("DeadlineExceeded", "uid-1"), told({ phase: "Failed", reason: "DeadlineExceeded" })],
      ["demo/plain was evicted and is Failed (DeadlineExceeded)"],
    ],
    ["accepts what the next kubelet reports", [evicted("uid-1"), started, told({ phase: "Failed" })], []],
  ])("%s", (_, steps, found) => {
    expect(verdicts(evictedAreTold(), steps)).toEqual(found);
  });
});

describe("pressureLasts", () => {
  const up: UntimedObservation = { kind: "apiServer", isUp: true };
  const away: UntimedObservation = { kind: "apiServer", isUp: false };
  const ended = event("NodeHasSufficientMemory");
  const threshold = {
    signal: "memory.available",
    least: { units: 100 * MIB },
    graceMs: 0,
    reclaim: undefined,
  } as const;
  const ofPids = { ...threshold, signal: "pid.available", least: { units: 10 } } as const;
  const ofDisk = { ...threshold, signal: "imagefs.available", least: { units: 10 } } as const;
  const disk = (availableBytes: number): UntimedObservation =>
    measured({ what: "disk", path: "/", availableBytes, capacityBytes: 100, inodesFree: 1, inodes: 1 });
  const removed = change("image removed", "app");
  const steps = (...then: readonly Step[]): readonly Step[] => [up, [100, memory(99)], [110, memory(500)], ...then];
  it.each<Case>([
    ["accepts an end after the transition period", steps([400, ended]), []],
    [
      "reports an early end",
      steps([120, ended]),
      ["memory pressure ended 20 s after the last figure below a threshold"],
    ],
    [
      "reports an early end of the pressure on process ids",
      [
        up,
        [100, measured({ what: "pids", available: 9, max: 100 })],
        [110, measured({ what: "pids", available: 50, max: 100 })],
        [120, event("NodeHasSufficientPID")],
      ],
      ["pid pressure ended 20 s after the last figure below a threshold"],
    ],
    ["accepts an end that was decided before a new pressure", steps([400, memory(50)], [401, ended]), []],
    ["accepts a late report after an outage", steps([120, away], [300, up], [320, ended]), []],
    ["accepts what the next kubelet reports", steps([115, started], [120, ended]), []],
    ["accepts the end of a pressure that was never measured", [up, [100, ended]], []],
    [
      "accepts an end just after a collection of images freed what it had found missing",
      [up, [100, disk(9)], [100.1, removed], [100.2, disk(50)], [101, event("NodeHasNoDiskPressure")]],
      [],
    ],
    [
      "reports an early end after a collection of images freed what was missing for longer",
      [up, [100, disk(9)], [102, disk(9)], [102.1, removed], [102.2, disk(50)], [110, event("NodeHasNoDiskPressure")]],
      ["disk pressure ended 8 s after the last figure below a threshold"],
    ],
    [
      "reports an early end of a pressure before the collection of images",
      [
        ...([up, [90, disk(9)], [95, disk(50)], [100, disk(9)], [100.1, removed], [100.2, disk(50)]] as const),
        [110, event("NodeHasNoDiskPressure")],
      ],
      ["disk pressure ended 20 s after the last figure below a threshold"],
    ],
  ])("%s", (_, seen, found) => {
    const evictionThresholds = [threshold, ofPids, ofDisk];
    const checker = pressureLasts({ evictionThresholds, pressureTransitionMs: 300_000 });
    expect(verdicts(checker, seen)).toEqual(found);
  });
});

describe("oomKillsAreTold", () => {
  const kernel = (constraint: string): UntimedObservation => ({
    kind: "kernel",
    text: `oom-kill:constraint=CONSTRAINT_${constraint},nodemask=(null)`,
  });
  const reported = (reason: string, exitCode = 137) => {
    const state = { terminated: { containerID: "containerd://uid-1-main#0", reason, exitCode } };
    return status(undefined, running({ state }));
  };
  const exit = change("container exited");
  const killed: UntimedObservation =
    exit.kind === "change" ? { ...exit, change: { ...exit.change, reason: "OOMKilled" } } : exit;
  const systemOom = event("SystemOOM");
  it.each<Case>([
    [
      "accepts an event for each kill of the machine",
      [started, kernel("NONE"), systemOom, kernel("NONE"), systemOom],
      [],
    ],
    [
      "reports a kill of the machine without an event",
      [started, kernel("NONE"), [20, memory(1)]],
      ["a kill for the whole machine without a SystemOOM event"],
    ],
    [
      "reports an event for a kill within a cgroup",
      [kernel("MEMCG"), systemOom],
      ["a SystemOOM event without a kill for the whole machine"],
    ],
    ["accepts a kill that the next kubelet did not see", [started, kernel("NONE"), started, [20, memory(1)]], []],
    ["accepts a kill without a kubelet", [kernel("NONE"), [20, memory(1)]], []],
    ["accepts the status of a killed container", [killed, reported("OOMKilled")], []],
    [
      "reports another reason",
      [killed, reported("Error")],
      ["demo/plain/main was killed for memory and is reported as Error (137)"],
    ],
    ["ignores other containers", [exit, reported("Error")], []],
  ])("%s", (_, steps, found) => {
    expect(verdicts(oomKillsAreTold(), steps)).toEqual(found);
  });
});
