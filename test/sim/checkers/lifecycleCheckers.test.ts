/** Checkers of what lives and dies when: each on the observations it is about. */
import { describe, expect, it } from "vitest";
import { diskOutlivesContainers } from "../../../src/sim/checkers/diskOutlivesContainers.ts";
import { graceNeverGrows } from "../../../src/sim/checkers/graceNeverGrows.ts";
import { podEventObject } from "../../../src/core/pod/podEvents.ts";
import { noStartAfterEnd } from "../../../src/sim/checkers/noStartAfterEnd.ts";
import { oneIncarnation } from "../../../src/sim/checkers/oneIncarnation.ts";
import { oneLiveInstance } from "../../../src/sim/checkers/oneLiveInstance.ts";
import { oneSandbox } from "../../../src/sim/checkers/oneSandbox.ts";
import { preStopOnce } from "../../../src/sim/checkers/preStopOnce.ts";
import { sidecarsOutliveMains } from "../../../src/sim/checkers/sidecarsOutliveMains.ts";
import { containerOf, podOf } from "../../support/pods.ts";
import { call, change, started, status, type Step, verdicts, wanted } from "./sights.ts";

type Case = readonly [what: string, steps: readonly Step[], found: readonly string[]];

const [begins, ends] = [change("container started"), change("container exited")];
const sandbox = (kind: "created" | "stopped", part = "s0", uid = "uid-1") => change(`sandbox ${kind}`, part, uid);

describe("oneLiveInstance", () => {
  const next = change("container started", "main#1");
  it.each<Case>([
    ["one after the other", [begins, ends, next], []],
    ["side by side", [begins, next], ["demo/plain/main#1 started while uid-1-main#0 of the same name runs"]],
    ["of two pods", [begins, change("container started", "main#0", "uid-2")], []],
  ])("%s", (_, steps, found) => expect(verdicts(oneLiveInstance(), steps)).toEqual(found));
});

describe("oneSandbox", () => {
  const [first, second] = [sandbox("created", "s0"), sandbox("created", "s1")];
  it.each<Case>([
    ["after the first was stopped", [first, sandbox("stopped"), second], []],
    ["while the first is ready", [first, second], ["a sandbox of demo/plain was created while uid-1-s0 is ready"]],
    [
      "while something runs in the first",
      [first, begins, sandbox("stopped"), second],
      ["a sandbox of demo/plain was created while demo/plain/main#0 runs"],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(oneSandbox(), steps)).toEqual(found));
});

describe("oneIncarnation", () => {
  const second = sandbox("created", "s1", "uid-2");
  it.each<Case>([
    ["after the end of the first", [sandbox("created"), begins, ends, sandbox("stopped"), second], []],
    ["while the first lives", [sandbox("created"), second], ["demo/plain of pod uid-2 lives while pod uid-1 does"]],
    ["of another name", [sandbox("created"), change("sandbox created", "s1", "uid-2", "demo/other")], []],
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
  const heard: Step = {
    kind: "object",
    what: "MODIFIED",
    subject: "demo/plain",
    object: { metadata: { uid: "uid-1" }, status: { phase: "Failed" } },
    before: undefined,
  };
  it.each<Case>([
    ["a start of a wanted pod", [...isThere, call("StartContainer")], []],
    ["a start that was under way", [...isThere, wanted(), call("StartContainer")], []],
    [
      "a start after the first stop",
      [...isThere, wanted(), call("StopContainer"), call("StartContainer")],
      ["StartContainer of demo/plain/main#0 after its pod began to end (stopping)"],
    ],
    [
      "a start of a pod that has failed",
      [...isThere, failed, call("CreateContainer")],
      ["CreateContainer of demo/plain/main#0 after its pod began to end (over)"],
    ],
    [
      "a start of a pod that was told as failed while it ran",
      [...isThere, preempted, call("CreateContainer")],
      ["CreateContainer of demo/plain/main#0 after its pod began to end (ending)"],
    ],
    ["such a start by a kubelet that never heard of it", [...isThere, preempted, started, call("CreateContainer")], []],
    ["or of one that had not started", [...isThere, preemptedEarly, started, call("CreateContainer")], []],
    ["nor one whose server never did", [...isThere, preempted, failed, started, call("CreateContainer")], []],
    [
      "a start by a kubelet that could have heard of the end",
      [...isThere, preempted, failed, heard, started, call("CreateContainer")],
      ["CreateContainer of demo/plain/main#0 after its pod began to end (over)"],
    ],
    [
      "a start of a pod that was over, taken back and wanted again at once",
      [...isThere, failed, wanted(), wanted({}), call("CreateContainer")],
      ["CreateContainer of demo/plain/main#0 after its pod began to end (stopping)"],
    ],
    [
      "a new beginning of such a pod under a kubelet that found only a part of it",
      [...isThere, failed, wanted(), call("RemoveContainer"), started, wanted({}), call("CreateContainer")],
      [],
    ],
    [
      "a new beginning, likewise, of one that was taken back before it was over",
      [...isThere, wanted(), call("StopContainer"), failed, started, wanted({}), call("CreateContainer")],
      [],
    ],
    [
      "a start under the next kubelet of a pod that is over and always wanted, as this one tells too",
      [...isThere, failed, started, failed, wanted({}), call("CreateContainer")],
      ["CreateContainer of demo/plain/main#0 after its pod began to end (over)"],
    ],
    [
      "a start under the next kubelet of a pod that is over and always wanted",
      [...isThere, failed, started, wanted({}), call("CreateContainer")],
      ["CreateContainer of demo/plain/main#0 after its pod began to end (over)"],
    ],
    [
      "a new beginning when all of it has gone",
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
    ["as much as the spec says", [wanted(pod), wanted(), stop(20)], []],
    ["more than that", [wanted(pod), wanted(), stop(21)], ["demo/plain/main#0 was given 21 s where 20 s are left"]],
    [
      "more than the time before",
      [wanted(pod), wanted(), stop(9), stop(20)],
      ["demo/plain/main#0 was given 20 s where 9 s are left"],
    ],
    ["the minimum", [wanted({ spec: { terminationGracePeriodSeconds: 0 } }), wanted(), stop(2)], []],
    ["anything while the pod is wanted", [wanted(pod), stop(600)], []],
    ["anything once it is wanted again", [wanted(pod), wanted(), status({}, undefined), wanted(pod), stop(600)], []],
    ["as told to a restarted kubelet", [wanted(pod), wanted(), stop(9), started, wanted(pod), wanted(), stop(20)], []],
  ])("%s", (_, steps, found) => expect(verdicts(graceNeverGrows(), steps)).toEqual(found));
});

describe("diskOutlivesContainers", () => {
  const removed: Step = { kind: "removed", what: "directory", podUid: "uid-1" };
  it.each<Case>([
    ["removed after the last container", [begins, ends, removed], []],
    [
      "removed while one runs",
      [begins, removed],
      ["the directory of pod uid-1 was removed while demo/plain/main#0 runs"],
    ],
    [
      "unmounted while one runs",
      [begins, { kind: "removed", what: "mount", podUid: "uid-1" }],
      ["the mount of pod uid-1 was removed while demo/plain/main#0 runs"],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(diskOutlivesContainers(), steps)).toEqual(found));
});

describe("preStopOnce", () => {
  const pod = { spec: { containers: [containerOf({ lifecycle: { preStop: { exec: { command: ["bye"] } } } })] } };
  const exec = (word: string, part?: string) => call("ExecSync", part, { command: [word] });
  it.each<Case>([
    ["once", [wanted(pod), exec("up"), exec("up"), exec("bye")], []],
    ["twice", [wanted(pod), exec("bye"), exec("bye")], ["the preStop hook of demo/plain/main#0 runs a second time"]],
    ["on the next instance", [wanted(pod), exec("bye"), exec("bye", "main#1")], []],
    ["under the next kubelet", [wanted(pod), exec("bye"), started, wanted(pod), exec("bye")], []],
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
    ["after the main container", [...up, wanted(), main, ends, stop], []],
    [
      "before it",
      [...up, wanted(), main, stop],
      ["sidecar demo/plain/proxy#0 is stopped while demo/plain/main#0 runs"],
    ],
    [
      "when it was being stopped before the pod's end began",
      [...up, [5, ownKill], [6, wanted()], [7, main], [8, stop]],
      [],
    ],
    ["for a change of its own that crosses the word of the end", [...up, [5, wanted()], [5, stop]], []],
    ["when the time is up", [...up, wanted(), [10, main], [30, stop]], []],
    [
      "when the time is up since the kubelet's own decision",
      [...up, [10, status(undefined, { phase: "Failed" })], [20, wanted()], [21, main], [30, stop]],
      [],
    ],
    [
      "before one whose start was under way",
      [...up, wanted(), main, change("container started", "main#1"), ends, stop],
      [],
    ],
    [
      "when the time is up since the first kill, which was told of before that decision",
      [...up, [9.9, killing], [10, status(undefined, { phase: "Failed" })], [20, wanted()], [29.9, stop]],
      [],
    ],
    [
      "when the time is up since a kill for a new sandbox, amid which the pod's end came",
      [...up, [10, killing], [20, wanted()], [21, killing], [30, stop]],
      [],
    ],
    [
      "before that",
      [...up, [10, killing], [20, wanted()], [21, killing], [29, stop]],
      ["sidecar demo/plain/proxy#0 is stopped while demo/plain/main#0 runs"],
    ],
    ["in a pod that goes on", [...up, stop], []],
  ])("%s", (_, steps, found) => expect(verdicts(sidecarsOutliveMains(), steps)).toEqual(found));
});
