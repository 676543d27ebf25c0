/** Checkers of what the kubelet tells, counts and admits: each on the observations it is about. */
import { describe, expect, it } from "vitest";
import { DEFAULT_CRASH_LOOP_POLICY } from "../../../src/core/backoff.ts";
import { admittedFits } from "../../../src/sim/checkers/admittedFits.ts";
import { finalPhaseStays } from "../../../src/sim/checkers/finalPhaseStays.ts";
import { readyFollowsVerdict } from "../../../src/sim/checkers/readyFollowsVerdict.ts";
import { restartCountsGrow } from "../../../src/sim/checkers/restartCountsGrow.ts";
import { restartsKeepTheCurve } from "../../../src/sim/checkers/restartsKeepTheCurve.ts";
import { startupGatesReady } from "../../../src/sim/checkers/startupGatesReady.ts";
import { containerOf, podOf } from "../../support/pods.ts";
import { call, change, probe, running, started, status, type Step, verdicts, wanted } from "./sights.ts";

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
  it.each<Case>([
    [
      "running, then failed, then gone",
      [status({ phase: "Running" }, { phase: "Failed" }), status({ phase: "Failed" }, undefined)],
      [],
    ],
    [
      "failed, then running",
      [status({ phase: "Failed" }, { phase: "Running" })],
      ["demo/plain went from Failed to Running"],
    ],
    [
      "failed, then succeeded",
      [status({ phase: "Failed" }, { phase: "Succeeded" })],
      ["demo/plain went from Failed to Succeeded"],
    ],
    [
      "begun again by a restarted kubelet, which was handed its status",
      [failedPod, started, failedPod, status(undefined, { phase: "Pending" })],
      ["demo/plain went from Failed to Pending"],
    ],
    [
      "begun again when nobody knows of it",
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
    ["told in order", [status(running({ restartCount: 1 }), running({ restartCount: 2 }))], []],
    [
      "told in reverse",
      [status(running({ restartCount: 2 }), running({ restartCount: 1 }))],
      ["demo/plain/main went from 2 restarts to 1"],
    ],
    ["made in order", [made(0), made(1), gone(0), made(2)], []],
    ["made twice", [made(0), made(1), made(1)], ["demo/plain/main#1 was created after attempt 1"]],
    ["begun anew when none is left", [made(0), gone(0), made(0)], []],
    [
      "begun anew though another container is left, of a pod that was to go",
      [wanted({}), made(0), sibling, wanted(), gone(0), wanted({}), create, made(0)],
      [],
    ],
    [
      "begun anew likewise, and what was asked for before was made meanwhile",
      [wanted({}), create, sibling, wanted(), made(0), gone(0), wanted({}), create, made(0)],
      [],
    ],
    [
      "begun anew though another container is left",
      [wanted({}), made(0), sibling, gone(0), create, made(0)],
      ["demo/plain/main#0 was created after attempt 0"],
    ],
    [
      "begun anew by a pod that is back",
      [wanted({}), sibling, wanted(), wanted({}), create, made(0), gone(0), create, made(0)],
      ["demo/plain/main#0 was created after attempt 0"],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(restartCountsGrow(), steps)).toEqual(found));
});

describe("restartsKeepTheCurve", () => {
  const made = (attempt: number) => change("container created", `main#${attempt}`);
  const exited = (attempt: number) => change("container exited", `main#${attempt}`);
  /** Made at 0 s, and anew so many seconds after each exit; an instance runs for a second. */
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
    ["the curve", loop(0, 10, 20, 40, 80, 160, 300, 300), []],
    ["at once, twice", loop(0, 0), [early(2, 10)]],
    ["without growth", loop(0, 10, 10), [early(3, 10)]],
    ["after ten quiet minutes", [...loop(0), [700, exited(1)], [700, made(2)]], []],
    ["by the next kubelet", [...loop(0), exited(1), started, made(2)], []],
    ["after a stop", [...loop(0), call("StopContainer", "main#1"), exited(1), made(2)], []],
    [
      "after an end that was not seen before the stop",
      [...loop(0), exited(1), call("StopContainer", "main#1"), made(2)],
      [],
    ],
    ["after the stop of another", [...loop(0), exited(1), call("StopContainer", "main#0"), made(2)], [early(2, 8)]],
    ["of a changed spec", [...loop(0), exited(1), wanted({ spec: { hostname: "other" } }), made(2)], []],
    ["in a new sandbox", [...loop(0), exited(1), change("sandbox created", "s1"), made(2)], []],
    ["after the clock was set", [...loop(0), exited(1), { kind: "clock", stepMs: 60_000 }, made(2)], []],
  ])("%s", (_, steps, found) =>
    expect(verdicts(restartsKeepTheCurve(DEFAULT_CRASH_LOOP_POLICY), steps)).toEqual(found),
  );
});

describe("startupGatesReady", () => {
  const probed = wanted({ spec: { containers: [containerOf({ startupProbe: { exec: { command: ["up"] } } })] } });
  const told = (how: { readonly ready?: boolean; readonly started?: boolean }) => status(undefined, running(how));
  it.each<Case>([
    ["not ready yet", [probed, begins, probe("exec up", false), told({ started: false })], []],
    [
      "started before",
      [probed, begins, told({ started: true })],
      ["demo/plain/main#0 is reported as started before its startup probe succeeded"],
    ],
    [
      "ready before",
      [probed, begins, probe("exec up", false), told({ ready: true })],
      ["demo/plain/main#0 is reported as ready before its startup probe succeeded"],
    ],
    ["ready after", [probed, begins, probe("exec up", true), told({ ready: true, started: true })], []],
    ["without the probe", [wanted({}), begins, told({ ready: true, started: true })], []],
  ])("%s", (_, steps, found) => expect(verdicts(startupGatesReady(), steps)).toEqual(found));
});

describe("readyFollowsVerdict", () => {
  const readinessProbe = { httpGet: { port: 80, path: "/" }, failureThreshold: 1, successThreshold: 2 };
  const up = [wanted({ spec: { containers: [containerOf({ readinessProbe })] } }), begins];
  const [yes, no] = [probe("http :80/", true), probe("http :80/", false)];
  const told = (ready: boolean) => status(running({ ready: !ready }), running({ ready }));
  const broken = "demo/plain/main#0 is reported as ready while its readiness probe fails";
  it.each<Case>([
    ["ready after it passed", [...up, yes, yes, told(true)], []],
    ["ready before it was asked", [...up, told(true)], [broken]],
    ["ready after one success of two", [...up, yes, told(true)], [broken]],
    ["ready after a failure that may have been an early look", [...up, yes, yes, told(true), no, yes], []],
    ["told in time", [...up, yes, yes, told(true), no, no, told(false)], []],
    ["never told", [...up, yes, yes, told(true), no, no, [20, yes], [30, no]], [broken, broken]],
    ["a restarted kubelet counts anew", [...up, yes, yes, told(true), no, no, started, no], []],
  ])("%s", (_, steps, found) => expect(verdicts(readyFollowsVerdict(), steps)).toEqual(found));
});

describe("admittedFits", () => {
  const pod = (uid: string, cpu = "600m") => {
    const resources = { requests: { cpu, memory: "1Gi" } };
    return { uid, name: uid, spec: { containers: [containerOf({ resources })] } };
  };
  const made = (uid: string) => change("sandbox created", "s0", uid, `demo/${uid}`);
  const room = (cpu: string, memory: string, maxPods = 10) => admittedFits({ allocatable: { cpu, memory }, maxPods });
  const granted = (uid: string, cpu: string) => status(undefined, { allocatedResources: { cpu, memory: "1Gi" } }, uid);
  const both: readonly Step[] = [wanted(pod("a"), pod("b")), made("a"), made("b")];
  it.each([
    ["room for both", room("2", "4Gi"), both, []],
    ["too little CPU", room("1", "4Gi"), both, ["running pods request 1200m of cpu after demo/b was started"]],
    [
      "too little memory",
      room("2", "1Gi"),
      both,
      ["running pods request 2147483648 bytes of memory after demo/b was started"],
    ],
    ["too many pods", room("2", "4Gi", 1), both, ["2 pods run after demo/b was started"]],
    [
      "one after the other",
      room("1", "4Gi"),
      [both[0] as Step, made("a"), change("sandbox stopped", "s0", "a", "demo/a"), made("b")],
      [],
    ],
    [
      "made where another gave back",
      room("1", "4Gi"),
      [wanted(pod("a"), pod("b")), made("a"), granted("a", "300m"), made("b")],
      [],
    ],
    [
      "made where another asks for less, granted as a matter of course",
      room("1", "4Gi"),
      [wanted(pod("a")), made("a"), wanted(pod("a", "300m"), pod("b")), made("b")],
      [],
    ],
    [
      "made where another is granted less than it asks for",
      room("1300m", "4Gi"),
      [wanted(pod("a")), made("a"), wanted(pod("a", "9"), pod("b")), made("b")],
      [],
    ],
    [
      "made where another has grown",
      room("1300m", "4Gi"),
      [wanted(pod("a"), pod("b")), made("a"), wanted(pod("a", "800m"), pod("b")), granted("a", "800m"), made("b")],
      ["running pods request 1400m of cpu after demo/b was started"],
    ],
    [
      "grown beside others, also those told of later",
      room("1300m", "4Gi"),
      [...both, wanted(pod("a", "800m"), pod("b")), granted("a", "800m"), started],
      ["running pods request 1400m of cpu after demo/plain was resized"],
    ],
    [
      "grown where another gives back at the same instant",
      room("1300m", "4Gi"),
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
      "still as large as granted after a restart",
      room("1300m", "4Gi"),
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
