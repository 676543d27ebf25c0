import { describe, expect, it } from "vitest";
import type { Pod } from "../../../src/core/api.ts";
import { admittedFits } from "../../../src/sim/checkers/admittedFits.ts";
import { roomIsWaitedFor } from "../../../src/sim/checkers/roomIsWaitedFor.ts";
import { containerOf, podOf } from "../../support/pods.ts";
import type { SimSight } from "../../../src/sim/simObservation.ts";
import { change, started, status, type Step, verdicts } from "./sights.ts";

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

/** A source wants these pods, and no others. */
const wanted = (...pods: readonly Pod[]): SimSight => ({
  kind: "wanted",
  source: "api",
  podUids: new Set(pods.map(({ metadata }) => metadata.uid)),
  pods,
  news: pods,
});
const runs = (uid: string): SimSight => change("sandbox created", "s0", uid, `demo/${uid}`);
const stopped = (uid: string): Step => change("sandbox removed", "s0", uid, `demo/${uid}`);
const rejects = (uid: string, reason = "OutOfcpu") => status(undefined, { phase: "Failed", reason }, uid);
const WRONG = (reason = "OutOfcpu") => [`demo/plain was rejected (${reason}) but fits beside the pods that stay`];

describe("roomIsWaitedFor", () => {
  const old = pod("old", { cpu: "4" });
  const next = pod("new", { cpu: "3" });
  it.each<readonly [what: string, steps: readonly Step[], found: readonly string[]]>([
    ["one that does not fit", [wanted(old), runs("old"), wanted(old, next), rejects("new")], []],
    ["in place of one deleted by force", [wanted(old), runs("old"), wanted(next), rejects("new")], WRONG()],
    [
      "in place of one deleted with grace",
      [wanted(old), wanted(pod("old", { deleted: true }), next), rejects("new")],
      WRONG(),
    ],
    [
      "in place of one that is over",
      [wanted(old), status({ phase: "Running" }, { phase: "Succeeded" }, "old"), wanted(old, next), rejects("new")],
      WRONG(),
    ],
    [
      "for want of a device",
      [wanted(pod("new", { device: "1" })), rejects("new", "OutOfexample.com/device")],
      WRONG("OutOfexample.com/device"),
    ],
    [
      "for a device that another has",
      [wanted(pod("a", { device: "1" }), pod("new", { device: "1" })), rejects("new", "OutOfexample.com/device")],
      [],
    ],
    ["for a host port", [wanted(pod("new", { hostPort: 80 })), rejects("new", "NodePorts")], WRONG("NodePorts")],
    [
      "for a host port that another has",
      [wanted(pod("a", { hostPort: 80 }), pod("new", { hostPort: 80 })), rejects("new", "NodePorts")],
      [],
    ],
    [
      "beside one that waits, and was there before",
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
      "beside as many pods as there may be",
      [wanted(...["a", "b", "c", "new"].map((uid) => pod(uid))), rejects("new", "OutOfpods")],
      [],
    ],
    [
      "beside one that was rejected itself",
      [wanted(old), rejects("old"), wanted(old, next), rejects("new")],
      [...WRONG(), ...WRONG()],
    ],
    ["for another reason", [wanted(next), rejects("new", "NodeAffinity")], []],
    [
      "once more by the next kubelet, which is told that it was",
      [wanted(old), started, wanted(pod("new", { phase: "Failed" })), rejects("new")],
      [],
    ],
    [
      "when the other has not stopped for a minute",
      [wanted(old), runs("old"), [2, wanted(next)], [61.9, rejects("new")]],
      WRONG(),
    ],
    ["when the other has not stopped in time", [wanted(old), runs("old"), [2, wanted(next)], [63, rejects("new")]], []],
    [
      "when the other is gone for good",
      [wanted(old), runs("old"), [2, wanted(next)], stopped("old"), status({}, undefined, "old"), [63, rejects("new")]],
      WRONG(),
    ],
    [
      "while nobody knows yet whether what runs is wanted",
      [wanted(old), runs("old"), started, wanted(next), rejects("new")],
      WRONG(),
    ],
    [
      "when nobody has said for a minute whether what runs is wanted",
      [wanted(old), runs("old"), [2, started], wanted(next), [63, rejects("new")]],
      [],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(roomIsWaitedFor(CONFIG), steps)).toEqual(found));
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
