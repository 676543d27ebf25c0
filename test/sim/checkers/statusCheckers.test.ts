/** Checkers of statuses, restarts and admission, each on the observations it reads. */
import { describe, expect, it } from "vitest";
import { DEFAULT_CRASH_LOOP_POLICY } from "../../../src/core/backoff.ts";
import { admittedFits } from "../../../src/sim/checkers/admittedFits.ts";
import { finalPhaseStays } from "../../../src/sim/checkers/finalPhaseStays.ts";
import { readyFollowsVerdict } from "../../../src/sim/checkers/readyFollowsVerdict.ts";
import { restartCountsGrow } from "../../../src/sim/checkers/restartCountsGrow.ts";
import { restartsKeepTheCurve } from "../../../src/sim/checkers/restartsKeepTheCurve.ts";
import { startupGatesReady } from "../../../src/sim/checkers/startupGatesReady.ts";
import { containerOf, podOf } from "../../support/pods.ts";
import { call, change, probe, running, started, status, type Step, verdicts, wanted } from "./observations.ts";

type Case = readonly [what: string, steps: readonly Step[], found: readonly string[]];

const begins = change("container started");

describe("finalPhaseStays", () => {
  const failedPod: Step = {
    kind: "wanted",
    source: "api",
    podUids: new Set(["uid-1"]),
    pods: [{ ...podOf(), status: { phase: "Failed" } }],
    news: [],
  };
  const app = { name: "app", image: "app", imageID: "", ready: true, restartCount: 0, state: { running: {} } };
  const evictedPod = { phase: "Failed", containerStatuses: [app] };
  it.each<Case>([
    [
      "accepts a pod that fails and is removed",
      [status({ phase: "Running" }, { phase: "Failed" }), status({ phase: "Failed" }, undefined)],
      [],
    ],
    [
      "reports a failed pod that runs again",
      [status({ phase: "Failed" }, { phase: "Running" })],
      ["demo/plain went from Failed to Running"],
    ],
    [
      "reports a failed pod that succeeds",
      [status({ phase: "Failed" }, { phase: "Succeeded" })],
      ["demo/plain went from Failed to Succeeded"],
    ],
    [
      "accepts a pod that is evicted and succeeds as its containers exit with 0, and reports a change after that",
      [
        status({ phase: "Running" }, evictedPod),
        status(evictedPod, { phase: "Succeeded" }),
        status({ phase: "Succeeded" }, { phase: "Failed" }),
      ],
      ["demo/plain went from Succeeded to Failed"],
    ],
    [
      "accepts that of a pod whose last running container is a sidecar",
      [status({ phase: "Failed", initContainerStatuses: [app] }, { phase: "Succeeded" })],
      [],
    ],
    [
      "reports a restart of a pod whose source returned its terminal status",
      [failedPod, started, failedPod, status(undefined, { phase: "Pending" })],
      ["demo/plain went from Failed to Pending"],
    ],
    [
      "accepts a restart of a pod whose terminal status is unknown",
      [failedPod, wanted(), wanted({}), status(undefined, { phase: "Pending" })],
      [],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(finalPhaseStays(), steps)).toEqual(found));
});

describe("restartCountsGrow", () => {
  const made = (attempt: number) => change("container created", `main#${attempt}`);
  const gone = (attempt: number) => change("container removed", `main#${attempt}`);
  const sibling = change("container created", "other#0");
  const create = call("CreateContainer");
  it.each<Case>([
    ["accepts a status with a higher count", [status(running({ restartCount: 1 }), running({ restartCount: 2 }))], []],
    [
      "reports a status with a lower count",
      [status(running({ restartCount: 2 }), running({ restartCount: 1 }))],
      ["demo/plain/main went from 2 restarts to 1"],
    ],
    ["accepts attempts in order", [made(0), made(1), gone(0), made(2)], []],
    [
      "reports an attempt created twice",
      [made(0), made(1), made(1)],
      ["demo/plain/main#1 was created after attempt 1"],
    ],
    ["accepts attempt 0 when no container is left", [made(0), gone(0), made(0)], []],
    [
      "accepts attempt 0 beside another container in a pod that terminated",
      [wanted({}), made(0), sibling, wanted(), gone(0), wanted({}), create, made(0)],
      [],
    ],
    [
      "accepts it when an earlier request took effect meanwhile",
      [wanted({}), create, sibling, wanted(), made(0), gone(0), wanted({}), create, made(0)],
      [],
    ],
    [
      "reports attempt 0 beside another container",
      [wanted({}), made(0), sibling, gone(0), create, made(0)],
      ["demo/plain/main#0 was created after attempt 0"],
    ],
    [
      "reports attempt 0 in a pod that returned",
      [wanted({}), sibling, wanted(), wanted({}), create, made(0), gone(0), create, made(0)],
      ["demo/plain/main#0 was created after attempt 0"],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(restartCountsGrow(), steps)).toEqual(found));
});

describe("restartsKeepTheCurve", () => {
  const made = (attempt: number) => change("container created", `main#${attempt}`);
  const exited = (attempt: number) => change("container exited", `main#${attempt}`);
  const removed = (attempt: number) => change("container removed", `main#${attempt}`);
  /** Created at 0 s and again after a wait in seconds from each exit; an instance runs for one second. */
  const loop = (...waits: readonly number[]): readonly Step[] => {
    let at = 0;
    const lives = waits.flatMap((wait, index): readonly Step[] => [
      [(at += 1), exited(index)],
      [(at += wait), made(index + 1)],
    ]);
    return [[0, wanted({})], [0, made(0)], ...lives];
  };
  const early = (attempt: number, seconds: number) =>
    `demo/plain/main#${attempt} was created ${seconds} s before its crash-loop backoff ends`;
  it.each<Case>([
    ["accepts restarts at the curve", loop(0, 10, 20, 40, 80, 160, 300, 300), []],
    ["reports a second restart at once", loop(0, 0), [early(2, 10)]],
    ["reports a delay that does not grow", loop(0, 10, 10), [early(3, 10)]],
    ["accepts a restart at once after ten minutes of running", [...loop(0), [700, exited(1)], [700, made(2)]], []],
    ["accepts a restart by the next kubelet", [...loop(0), exited(1), started, made(2)], []],
    ["accepts a restart after a stop request", [...loop(0), call("StopContainer", "main#1"), exited(1), made(2)], []],
    [
      "accepts a restart after an unseen exit before the stop request",
      [...loop(0), exited(1), call("StopContainer", "main#1"), made(2)],
      [],
    ],
    [
      "reports an early restart after a stop of another instance",
      [...loop(0), exited(1), call("StopContainer", "main#0"), made(2)],
      [early(2, 8)],
    ],
    [
      "accepts a restart of a changed spec",
      [...loop(0), exited(1), wanted({ spec: { hostname: "other" } }), made(2)],
      [],
    ],
    ["accepts a restart in a new sandbox", [...loop(0), exited(1), change("sandbox created", "s1"), made(2)], []],
    [
      "accepts a restart after the last exit was removed beside an instance that never started",
      [...loop(0), [2, exited(1)], [12, made(2)], [12, removed(1)], [13, made(3)]],
      [],
    ],
    [
      "reports an early restart after the last exit was removed alone",
      [...loop(0), [2, exited(1)], [2, removed(1)], [3, made(2)]],
      [early(2, 9)],
    ],
    [
      "accepts a restart after a step of the wall clock",
      [...loop(0), exited(1), { kind: "clock", stepMs: 60_000 }, made(2)],
      [],
    ],
  ])("%s", (_, steps, found) =>
    expect(verdicts(restartsKeepTheCurve(DEFAULT_CRASH_LOOP_POLICY), steps)).toEqual(found),
  );
});

describe("startupGatesReady", () => {
  const probed = wanted({ spec: { containers: [containerOf({ startupProbe: { exec: { command: ["up"] } } })] } });
  const reported = (how: { readonly ready?: boolean; readonly started?: boolean }) => status(undefined, running(how));
  it.each<Case>([
    [
      "accepts a container that has not started",
      [probed, begins, probe("exec up", false), reported({ started: false })],
      [],
    ],
    [
      "reports a started container before its startup probe succeeded",
      [probed, begins, reported({ started: true })],
      ["demo/plain/main#0 is reported as started before its startup probe succeeded"],
    ],
    [
      "reports a ready container before its startup probe succeeded",
      [probed, begins, probe("exec up", false), reported({ ready: true })],
      ["demo/plain/main#0 is reported as ready before its startup probe succeeded"],
    ],
    [
      "accepts a ready container after its startup probe succeeded",
      [probed, begins, probe("exec up", true), reported({ ready: true, started: true })],
      [],
    ],
    ["ignores a container without a startup probe", [wanted({}), begins, reported({ ready: true, started: true })], []],
  ])("%s", (_, steps, found) => expect(verdicts(startupGatesReady(), steps)).toEqual(found));
});

describe("readyFollowsVerdict", () => {
  const readinessProbe = { httpGet: { port: 80, path: "/" }, failureThreshold: 1, successThreshold: 2 };
  const up = [wanted({ spec: { containers: [containerOf({ readinessProbe })] } }), begins];
  const [yes, no] = [probe("http :80/", true), probe("http :80/", false)];
  const reported = (ready: boolean) => status(running({ ready: !ready }), running({ ready }));
  const broken = "demo/plain/main#0 is reported as ready while its readiness probe fails";
  it.each<Case>([
    ["accepts a ready container after the probe succeeded", [...up, yes, yes, reported(true)], []],
    ["reports a ready container before the first probe", [...up, reported(true)], [broken]],
    ["reports a ready container below the success threshold", [...up, yes, reported(true)], [broken]],
    ["accepts a failure that may be an early probe", [...up, yes, yes, reported(true), no, yes], []],
    ["accepts a status that follows the probe in time", [...up, yes, yes, reported(true), no, no, reported(false)], []],
    [
      "reports a status that never follows the probe",
      [...up, yes, yes, reported(true), no, no, [20, yes], [30, no]],
      [broken, broken],
    ],
    [
      "counts failures from zero after a restart of the kubelet",
      [...up, yes, yes, reported(true), no, no, started, no],
      [],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(readyFollowsVerdict(), steps)).toEqual(found));
});

describe("admittedFits", () => {
  const pod = (uid: string, cpu = "600m") => {
    const resources = { requests: { cpu, memory: "1Gi" } };
    return { uid, name: uid, spec: { containers: [containerOf({ resources })] } };
  };
  const made = (uid: string) => change("sandbox created", "s0", uid, `demo/${uid}`);
  const allocatable = (cpu: string, memory: string, maxPods = 10) =>
    admittedFits({ allocatable: { cpu, memory }, maxPods });
  const granted = (uid: string, cpu: string) => status(undefined, { allocatedResources: { cpu, memory: "1Gi" } }, uid);
  const both: readonly Step[] = [wanted(pod("a"), pod("b")), made("a"), made("b")];
  it.each([
    ["accepts two pods that fit", allocatable("2", "4Gi"), both, []],
    [
      "reports pods that exceed the CPU",
      allocatable("1", "4Gi"),
      both,
      ["running pods request 1200m of cpu after demo/b was started"],
    ],
    [
      "reports pods that exceed the memory",
      allocatable("2", "1Gi"),
      both,
      ["running pods request 2147483648 bytes of memory after demo/b was started"],
    ],
    ["reports more pods than maxPods", allocatable("2", "4Gi", 1), both, ["2 pods run after demo/b was started"]],
    [
      "accepts a pod after the end of another",
      allocatable("1", "4Gi"),
      [both[0] as Step, made("a"), change("sandbox stopped", "s0", "a", "demo/a"), made("b")],
      [],
    ],
    [
      "accepts a pod in the capacity that a resize freed",
      allocatable("1", "4Gi"),
      [wanted(pod("a"), pod("b")), made("a"), granted("a", "300m"), made("b")],
      [],
    ],
    [
      "accepts a pod beside a pod whose spec decreased",
      allocatable("1", "4Gi"),
      [wanted(pod("a")), made("a"), wanted(pod("a", "300m"), pod("b")), made("b")],
      [],
    ],
    [
      "accepts a pod beside a pod whose allocation is below its spec",
      allocatable("1300m", "4Gi"),
      [wanted(pod("a")), made("a"), wanted(pod("a", "9"), pod("b")), made("b")],
      [],
    ],
    [
      "reports a pod beside a pod whose allocation grew",
      allocatable("1300m", "4Gi"),
      [wanted(pod("a"), pod("b")), made("a"), wanted(pod("a", "800m"), pod("b")), granted("a", "800m"), made("b")],
      ["running pods request 1400m of cpu after demo/b was started"],
    ],
    [
      "reports growth beside other pods, later pods included",
      allocatable("1300m", "4Gi"),
      [...both, wanted(pod("a", "800m"), pod("b")), granted("a", "800m"), started],
      ["running pods request 1400m of cpu after demo/plain was resized"],
    ],
    [
      "accepts growth when another pod shrinks at the same instant",
      allocatable("1300m", "4Gi"),
      [
        ...both,
        [8, wanted(pod("a", "800m"), pod("b", "400m"))],
        [9, granted("a", "800m")],
        [9, granted("b", "400m")],
        made("c"),
      ],
      [],
    ],
    [
      "keeps allocations across a restart of the kubelet",
      allocatable("1300m", "4Gi"),
      [
        wanted(pod("a", "800m")),
        made("a"),
        granted("a", "800m"),
        started,
        wanted(pod("a", "800m"), pod("b")),
        made("b"),
      ],
      ["running pods request 1400m of cpu after demo/b was started"],
    ],
  ] as const)("%s", (_, checker, steps, found) => expect(verdicts(checker, steps)).toEqual(found));
});
