/** Checkers of the order of starts, stops and removals, each on the observations it reads. */
import { describe, expect, it } from "vitest";
import { diskOutlivesContainers } from "../../../src/sim/checkers/diskOutlivesContainers.ts";
import { graceNeverGrows } from "../../../src/sim/checkers/graceNeverGrows.ts";
import { podEventObject } from "../../../src/core/pod/podEvents.ts";
import type { ApiContainerStatus } from "../../../src/core/api.ts";
import { noStartAfterEnd } from "../../../src/sim/checkers/noStartAfterEnd.ts";
import { oneIncarnation } from "../../../src/sim/checkers/oneIncarnation.ts";
import { oneLiveInstance } from "../../../src/sim/checkers/oneLiveInstance.ts";
import { oneSandbox } from "../../../src/sim/checkers/oneSandbox.ts";
import { preStopOnce } from "../../../src/sim/checkers/preStopOnce.ts";
import { sidecarsOutliveMains } from "../../../src/sim/checkers/sidecarsOutliveMains.ts";
import { containerOf, podOf } from "../../support/pods.ts";
import { call, change, started, status, type Step, verdicts, wanted } from "./observations.ts";

type Case = readonly [what: string, steps: readonly Step[], found: readonly string[]];

const [begins, ends] = [change("container started"), change("container exited")];
const sandbox = (kind: "created" | "stopped", part = "s0", uid = "uid-1") => change(`sandbox ${kind}`, part, uid);

describe("oneLiveInstance", () => {
  const next = change("container started", "main#1");
  it.each<Case>([
    ["accepts a container after the end of the previous one", [begins, ends, next], []],
    [
      "reports two live containers of one name",
      [begins, next],
      ["demo/plain/main#1 started while uid-1-main#0 of the same name runs"],
    ],
    ["accepts live containers of one name in two pods", [begins, change("container started", "main#0", "uid-2")], []],
  ])("%s", (_, steps, found) => expect(verdicts(oneLiveInstance(), steps)).toEqual(found));
});

describe("oneSandbox", () => {
  const [first, second] = [sandbox("created", "s0"), sandbox("created", "s1")];
  it.each<Case>([
    ["accepts a sandbox after the previous one was stopped", [first, sandbox("stopped"), second], []],
    [
      "reports a sandbox while the previous one is ready",
      [first, second],
      ["a sandbox of demo/plain was created while uid-1-s0 is ready"],
    ],
    [
      "reports a sandbox while a container of the previous one runs",
      [first, begins, sandbox("stopped"), second],
      ["a sandbox of demo/plain was created while demo/plain/main#0 runs"],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(oneSandbox(), steps)).toEqual(found));
});

describe("oneIncarnation", () => {
  const second = sandbox("created", "s1", "uid-2");
  it.each<Case>([
    [
      "accepts a pod after the end of the previous one",
      [sandbox("created"), begins, ends, sandbox("stopped"), second],
      [],
    ],
    [
      "reports a pod while the previous one lives",
      [sandbox("created"), second],
      ["demo/plain of pod uid-2 lives while pod uid-1 does"],
    ],
    [
      "accepts live pods of two names",
      [sandbox("created"), change("sandbox created", "s1", "uid-2", "demo/other")],
      [],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(oneIncarnation(), steps)).toEqual(found));
});

describe("noStartAfterEnd", () => {
  const isThere = [wanted({}), sandbox("created")];
  const failed: Step = {
    kind: "status",
    podUid: "uid-1",
    subject: "demo/plain",
    before: {},
    after: { phase: "Failed" },
  };
  const preempted: Step = {
    ...failed,
    after: { phase: "Failed", containerStatuses: [{ name: "main", state: { running: {} } } as never] },
  };
  const preemptedEarly: Step = {
    ...failed,
    after: { phase: "Failed", containerStatuses: [{ name: "main", state: { waiting: {} } } as never] },
  };
  const evictedBesideSidecar = (sidecar: ApiContainerStatus["state"]): Step => ({
    ...failed,
    after: {
      phase: "Failed",
      initContainerStatuses: [{ name: "proxy", state: sidecar } as never],
      containerStatuses: [{ name: "main", state: { terminated: { exitCode: 0 } } } as never],
    },
  });
  const heard: Step = {
    kind: "object",
    what: "MODIFIED",
    subject: "demo/plain",
    object: { metadata: { uid: "uid-1" }, status: { phase: "Failed" } },
    before: undefined,
  };
  it.each<Case>([
    ["accepts a start of a desired pod", [...isThere, call("StartContainer")], []],
    ["accepts a start that was under way", [...isThere, wanted(), call("StartContainer")], []],
    [
      "reports a start after the first stop request",
      [...isThere, wanted(), call("StopContainer"), call("StartContainer")],
      ["StartContainer of demo/plain/main#0 after its pod began to end (stopping)"],
    ],
    [
      "accepts a start of a pod that returned, once its old parts have stopped",
      [...isThere, wanted(), call("StopPodSandbox"), wanted({}), sandbox("stopped"), call("RunPodSandbox")],
      [],
    ],
    [
      "reports a start of a pod that returned, while an old part lives",
      [...isThere, begins, wanted(), call("StopPodSandbox"), wanted({}), sandbox("stopped"), call("RunPodSandbox")],
      ["RunPodSandbox of demo/plain/main#0 after its pod began to end (stopping)"],
    ],
    [
      "reports a start of a pod that did not return",
      [...isThere, wanted(), call("StopPodSandbox"), sandbox("stopped"), call("RunPodSandbox")],
      ["RunPodSandbox of demo/plain/main#0 after its pod began to end (stopping)"],
    ],
    [
      "reports a start of a failed pod",
      [...isThere, failed, call("CreateContainer")],
      ["CreateContainer of demo/plain/main#0 after its pod began to end (over)"],
    ],
    [
      "reports a start of a pod whose status failed while it ran",
      [...isThere, preempted, call("CreateContainer")],
      ["CreateContainer of demo/plain/main#0 after its pod began to end (ending)"],
    ],
    [
      "accepts that start by a kubelet that did not see the failed status",
      [...isThere, preempted, started, call("CreateContainer")],
      [],
    ],
    [
      "accepts it for a container that had not started",
      [...isThere, preemptedEarly, started, call("CreateContainer")],
      [],
    ],
    [
      "accepts it when only a sidecar ran",
      [...isThere, evictedBesideSidecar({ running: {} }), started, call("RunPodSandbox")],
      [],
    ],
    [
      "reports it when the sidecar had stopped too",
      [...isThere, evictedBesideSidecar({ terminated: { exitCode: 0 } }), started, call("RunPodSandbox")],
      ["RunPodSandbox of demo/plain/main#0 after its pod began to end (over)"],
    ],
    [
      "accepts it when the API server did not store the failed status",
      [...isThere, preempted, failed, started, call("CreateContainer")],
      [],
    ],
    [
      "reports a start by a kubelet that could read the failed status from the API server",
      [...isThere, preempted, failed, heard, started, call("CreateContainer")],
      ["CreateContainer of demo/plain/main#0 after its pod began to end (over)"],
    ],
    [
      "reports a start of a terminal pod that was removed and added again at once",
      [...isThere, failed, wanted(), wanted({}), call("CreateContainer")],
      ["CreateContainer of demo/plain/main#0 after its pod began to end (stopping)"],
    ],
    [
      "accepts a start of that pod by a kubelet that found only a part of it",
      [...isThere, failed, wanted(), call("RemoveContainer"), started, wanted({}), call("CreateContainer")],
      [],
    ],
    [
      "accepts it for a pod that was removed before it was terminal",
      [...isThere, wanted(), call("StopContainer"), failed, started, wanted({}), call("CreateContainer")],
      [],
    ],
    [
      "reports a start by the next kubelet of a terminal, still desired pod whose status stays failed",
      [...isThere, failed, started, failed, wanted({}), call("CreateContainer")],
      ["CreateContainer of demo/plain/main#0 after its pod began to end (over)"],
    ],
    [
      "reports a start by the next kubelet of a terminal, still desired pod",
      [...isThere, failed, started, wanted({}), call("CreateContainer")],
      ["CreateContainer of demo/plain/main#0 after its pod began to end (over)"],
    ],
    [
      "accepts a start after the removal of all old parts",
      [
        ...isThere,
        wanted(),
        call("StopPodSandbox"),
        change("sandbox removed", "s0"),
        wanted({}),
        call("StartContainer"),
      ],
      [],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(noStartAfterEnd(), steps)).toEqual(found));
});

describe("graceNeverGrows", () => {
  const pod = { spec: { terminationGracePeriodSeconds: 20 } };
  const stop = (graceSeconds: number) => call("StopContainer", "main#0", { graceSeconds });
  it.each<Case>([
    ["accepts the period of the spec", [wanted(pod), wanted(), stop(20)], []],
    [
      "reports a longer period",
      [wanted(pod), wanted(), stop(21)],
      ["demo/plain/main#0 was given 21 s where 20 s are left"],
    ],
    [
      "reports a longer period than in the previous request",
      [wanted(pod), wanted(), stop(9), stop(20)],
      ["demo/plain/main#0 was given 20 s where 9 s are left"],
    ],
    ["accepts the minimum", [wanted({ spec: { terminationGracePeriodSeconds: 0 } }), wanted(), stop(2)], []],
    ["accepts any period for a desired pod", [wanted(pod), stop(600)], []],
    [
      "accepts any period for a pod that returned",
      [wanted(pod), wanted(), status({}, undefined), wanted(pod), stop(600)],
      [],
    ],
    [
      "accepts the period of the spec after a restart of the kubelet",
      [wanted(pod), wanted(), stop(9), started, wanted(pod), wanted(), stop(20)],
      [],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(graceNeverGrows(), steps)).toEqual(found));
});

describe("diskOutlivesContainers", () => {
  const removed: Step = { kind: "removed", what: "directory", podUid: "uid-1" };
  it.each<Case>([
    ["accepts a removal after the last container", [begins, ends, removed], []],
    [
      "reports a removal while a container runs",
      [begins, removed],
      ["the directory of pod uid-1 was removed while demo/plain/main#0 runs"],
    ],
    [
      "reports an unmount while a container runs",
      [begins, { kind: "removed", what: "mount", podUid: "uid-1" }],
      ["the mount of pod uid-1 was removed while demo/plain/main#0 runs"],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(diskOutlivesContainers(), steps)).toEqual(found));
});

describe("preStopOnce", () => {
  const pod = { spec: { containers: [containerOf({ lifecycle: { preStop: { exec: { command: ["bye"] } } } })] } };
  const exec = (word: string, part?: string) => call("ExecSync", part, { command: [word] });
  it.each<Case>([
    ["accepts one run", [wanted(pod), exec("up"), exec("up"), exec("bye")], []],
    [
      "reports a second run",
      [wanted(pod), exec("bye"), exec("bye")],
      ["the preStop hook of demo/plain/main#0 runs a second time"],
    ],
    ["accepts a run for the next instance", [wanted(pod), exec("bye"), exec("bye", "main#1")], []],
    ["accepts a run by the next kubelet", [wanted(pod), exec("bye"), started, wanted(pod), exec("bye")], []],
  ])("%s", (_, steps, found) => expect(verdicts(preStopOnce(), steps)).toEqual(found));
});

describe("sidecarsOutliveMains", () => {
  const initContainers = [containerOf({ name: "proxy", restartPolicy: "Always" })];
  const pod = { spec: { terminationGracePeriodSeconds: 20, initContainers } };
  const up = [wanted(pod), change("container started", "proxy#0"), begins];
  const stop = call("StopContainer", "proxy#0", { graceSeconds: 2 });
  const main = call("StopContainer", "main#0", { graceSeconds: 20 });
  const killing: Step = {
    kind: "event",
    event: {
      type: "Normal",
      reason: "Killing",
      message: "Stopping container main",
      object: podEventObject(podOf(pod)),
    },
  };
  const ownKill: Step = {
    kind: "event",
    event: {
      type: "Normal",
      reason: "Killing",
      message: "Init container proxy definition changed",
      object: podEventObject(podOf(pod), "proxy"),
    },
  };
  it.each<Case>([
    ["accepts a stop after the main container has ended", [...up, wanted(), main, ends, stop], []],
    [
      "reports a stop while the main container runs",
      [...up, wanted(), main, stop],
      ["sidecar demo/plain/proxy#0 is stopped while demo/plain/main#0 runs"],
    ],
    [
      "accepts a stop that began before the termination of the pod",
      [...up, [5, ownKill], [6, wanted()], [7, main], [8, stop]],
      [],
    ],
    ["accepts a restart that crosses the removal of the pod", [...up, [5, wanted()], [5, stop]], []],
    ["accepts a stop after the grace period", [...up, wanted(), [10, main], [30, stop]], []],
    [
      "counts the grace period from the kubelet's own decision",
      [...up, [10, status(undefined, { phase: "Failed" })], [20, wanted()], [21, main], [30, stop]],
      [],
    ],
    [
      "accepts a stop before a container whose start was under way",
      [...up, wanted(), main, change("container started", "main#1"), ends, stop],
      [],
    ],
    [
      "counts the grace period from an earlier Killing event",
      [...up, [9.9, killing], [10, status(undefined, { phase: "Failed" })], [20, wanted()], [29.9, stop]],
      [],
    ],
    [
      "counts the grace period from a Killing event for a new sandbox",
      [...up, [10, killing], [20, wanted()], [21, killing], [30, stop]],
      [],
    ],
    [
      "reports a stop before that period has passed",
      [...up, [10, killing], [20, wanted()], [21, killing], [29, stop]],
      ["sidecar demo/plain/proxy#0 is stopped while demo/plain/main#0 runs"],
    ],
    ["accepts a stop in a desired pod", [...up, stop], []],
  ])("%s", (_, steps, found) => expect(verdicts(sidecarsOutliveMains(), steps)).toEqual(found));
});
