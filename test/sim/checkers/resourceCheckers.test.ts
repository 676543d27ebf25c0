import { describe, expect, it } from "vitest";
import type { Pod } from "../../../src/core/api.ts";
import { admittedFits } from "../../../src/sim/checkers/admittedFits.ts";
import { resourcesAreAwaited } from "../../../src/sim/checkers/resourcesAreAwaited.ts";
import { containerOf, podOf } from "../../support/pods.ts";
import type { UntimedObservation } from "../../../src/sim/simObservation.ts";
import { change, started, status, type Step, verdicts } from "./observations.ts";

const CONFIG = { allocatable: { cpu: "4", "example.com/device": "1" }, maxPods: 3 };

interface Wants {
  readonly cpu?: string;
  readonly device?: string;
  readonly hostPort?: number;
  readonly deleted?: boolean;
  readonly phase?: string;
}

function pod(uid: string, { cpu = "1", device, hostPort, deleted, phase }: Wants = {}): Pod {
  const requests = { cpu, ...(device === undefined ? {} : { "example.com/device": device }) };
  const ports = hostPort === undefined ? {} : { ports: [{ containerPort: hostPort, hostPort }] };
  const made = podOf({ uid, name: uid, spec: { containers: [containerOf({ resources: { requests }, ...ports })] } });
  const deletion = deleted === true ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {};
  return {
    ...made,
    metadata: { ...made.metadata, ...deletion },
    ...(phase === undefined ? {} : { status: { phase } }),
  };
}

/** A snapshot in which a source lists exactly these pods. */
const wanted = (...pods: readonly Pod[]): UntimedObservation => ({
  kind: "wanted",
  source: "api",
  podUids: new Set(pods.map(({ metadata }) => metadata.uid)),
  pods,
  news: pods,
});
const runs = (uid: string): UntimedObservation => change("sandbox created", "s0", uid, `demo/${uid}`);
const stopped = (uid: string): Step => change("sandbox removed", "s0", uid, `demo/${uid}`);
const rejects = (uid: string, reason = "OutOfcpu") => status(undefined, { phase: "Failed", reason }, uid);
const WRONG = (reason = "OutOfcpu") => [`demo/plain was rejected (${reason}) but fits beside the pods that stay`];

describe("resourcesAreAwaited", () => {
  const old = pod("old", { cpu: "4" });
  const next = pod("new", { cpu: "3" });
  const RUNS = { phase: "Running" };
  it.each<readonly [what: string, steps: readonly Step[], found: readonly string[]]>([
    [
      "accepts the rejection of a pod that does not fit",
      [wanted(old), runs("old"), wanted(old, next), rejects("new")],
      [],
    ],
    [
      "reports a rejection in place of a pod deleted by force",
      [wanted(old), runs("old"), wanted(next), rejects("new")],
      WRONG(),
    ],
    [
      "reports a rejection in place of a pod deleted with a grace period",
      [wanted(old), wanted(pod("old", { deleted: true }), next), rejects("new")],
      WRONG(),
    ],
    [
      "reports a rejection in place of a terminal pod",
      [wanted(old), status({ phase: "Running" }, { phase: "Succeeded" }, "old"), wanted(old, next), rejects("new")],
      WRONG(),
    ],
    [
      "accepts a rejection in the instant in which another pod is preempted, as for a resize decided after it",
      [wanted(old, next), [1, status(RUNS, { phase: "Failed", reason: "Preempting" }, "old")], [1, rejects("new")]],
      [],
    ],
    [
      "reports a rejection after a preemption",
      [wanted(old, next), [1, status(RUNS, { phase: "Failed", reason: "Preempting" }, "old")], [2, rejects("new")]],
      WRONG(),
    ],
    [
      "reports a rejection for a free device",
      [wanted(pod("new", { device: "1" })), rejects("new", "OutOfexample.com/device")],
      WRONG("OutOfexample.com/device"),
    ],
    [
      "accepts a rejection for a device in use",
      [wanted(pod("a", { device: "1" }), pod("new", { device: "1" })), rejects("new", "OutOfexample.com/device")],
      [],
    ],
    [
      "reports a rejection for a free host port",
      [wanted(pod("new", { hostPort: 80 })), rejects("new", "NodePorts")],
      WRONG("NodePorts"),
    ],
    [
      "accepts a rejection for a host port in use",
      [wanted(pod("a", { hostPort: 80 }), pod("new", { hostPort: 80 })), rejects("new", "NodePorts")],
      [],
    ],
    [
      "accepts a rejection beside an earlier waiting pod",
      [
        wanted(old),
        runs("old"),
        wanted(pod("waits", { cpu: "2" })),
        wanted(pod("waits", { cpu: "2" }), next),
        rejects("new"),
      ],
      [],
    ],
    [
      "accepts a rejection at the maximum number of pods",
      [wanted(...["a", "b", "c", "new"].map((uid) => pod(uid))), rejects("new", "OutOfpods")],
      [],
    ],
    [
      "reports a rejection beside a rejected pod",
      [wanted(old), rejects("old"), wanted(old, next), rejects("new")],
      [...WRONG(), ...WRONG()],
    ],
    [
      "accepts one beside a pod whose removal came later, but before the first decision of a kubelet",
      [started, wanted(old, next), wanted(next), rejects("new")],
      [],
    ],
    [
      "reports it after the first decision",
      [
        started,
        wanted(old),
        runs("old"),
        status(undefined, RUNS, "old"),
        wanted(old, next),
        wanted(next),
        rejects("new"),
      ],
      WRONG(),
    ],
    ["ignores a rejection for another reason", [wanted(next), rejects("new", "NodeAffinity")], []],
    [
      "accepts a repeated rejection by the next kubelet",
      [wanted(old), started, wanted(pod("new", { phase: "Failed" })), rejects("new")],
      [],
    ],
    [
      "reports a rejection before a terminating pod had a minute to stop",
      [wanted(old), runs("old"), [2, wanted(next)], [61.9, rejects("new")]],
      WRONG(),
    ],
    [
      "accepts a rejection when a terminating pod has not stopped in a minute",
      [wanted(old), runs("old"), [2, wanted(next)], [63, rejects("new")]],
      [],
    ],
    [
      "reports a rejection after the other pod has gone",
      [wanted(old), runs("old"), [2, wanted(next)], stopped("old"), status({}, undefined, "old"), [63, rejects("new")]],
      WRONG(),
    ],
    [
      "reports a rejection while a running pod is in no snapshot yet",
      [wanted(old), runs("old"), started, wanted(next), rejects("new")],
      WRONG(),
    ],
    [
      "accepts a rejection when a running pod is in no snapshot for a minute",
      [wanted(old), runs("old"), [2, started], wanted(next), [63, rejects("new")]],
      [],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(resourcesAreAwaited(CONFIG), steps)).toEqual(found));
});

describe("admittedFits", () => {
  it.each<readonly [what: string, pods: readonly Pod[], found: readonly string[]]>([
    [
      "devices",
      [pod("a", { device: "1" }), pod("b", { device: "1" })],
      ["running pods request 2 of example.com/device after demo/b was started"],
    ],
    [
      "host ports",
      [pod("a", { hostPort: 80 }), pod("b", { hostPort: 80 })],
      ["two running pods have the host port TCP 80 after demo/b was started"],
    ],
    ["other host ports", [pod("a", { hostPort: 80 }), pod("b", { hostPort: 81 })], []],
  ])("counts %s", (_, pods, found) => {
    expect(verdicts(admittedFits(CONFIG), [wanted(...pods), runs("a"), runs("b")])).toEqual(found);
  });
});
