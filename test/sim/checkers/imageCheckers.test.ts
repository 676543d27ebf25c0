/** Checkers of image garbage collection. */
import { describe, expect, it } from "vitest";
import { imageGcStops } from "../../../src/sim/checkers/imageGcStops.ts";
import { neededImagesStay } from "../../../src/sim/checkers/neededImagesStay.ts";
import { reclaimBeforeEviction } from "../../../src/sim/checkers/reclaimBeforeEviction.ts";
import { simImage } from "../../../src/sim/runtime/simImageCalls.ts";
import type { SimImage } from "../../../src/sim/runtime/simRecords.ts";
import type { UntimedObservation } from "../../../src/sim/simObservation.ts";
import { call, change, started, status, type Step, verdicts, wanted } from "./observations.ts";

type Case = readonly [what: string, steps: readonly Step[], found: readonly string[]];

const REFERENCE = "registry.example/app:1";
const IMAGE = simImage(REFERENCE);
const removal = (image: SimImage = IMAGE): UntimedObservation => call("RemoveImage", "", { podUid: "", image });
const uses = (kind: "container created" | "container exited"): UntimedObservation => {
  const made = change(kind);
  return made.kind === "change" ? { ...made, change: { ...made.change, imageId: IMAGE.id } } : made;
};
const because = (why: string): readonly string[] => [`image ${REFERENCE} was removed, but it ${why}`];

describe("neededImagesStay", () => {
  it.each<Case>([
    ["accepts the removal of an image that nobody names", [started, wanted(), removal()], []],
    ["reports a pinned image", [started, removal({ ...IMAGE, pinned: true })], because("is pinned")],
    ["reports an image of a pod that may start", [wanted({}), removal()], because("is needed by pod plain")],
    [
      "accepts a pod of the same instant",
      [
        [1, wanted({})],
        [1, removal()],
      ],
      [],
    ],
    ["accepts the image of a terminal pod", [wanted({}), status(undefined, { phase: "Failed" }), removal()], []],
    ["accepts the image of a pod that is no longer desired", [wanted({}), wanted(), removal()], []],
    ["forgets the pods of the last kubelet", [wanted({}), started, removal()], []],
    ["reports an image in use", [uses("container created"), removal()], because("is used by demo/plain/main#0")],
    ["accepts the image of an exited container", [uses("container created"), uses("container exited"), removal()], []],
  ])("%s", (_, steps, found) => {
    expect(verdicts(neededImagesStay(), steps)).toEqual(found);
  });
});

const POLICY = { highPercent: 70, lowPercent: 60, minAgeMs: 0, maxAgeMs: 0 };
const THRESHOLD = { signal: "imagefs.available", least: { share: 0.15 }, graceMs: 0, reclaim: undefined } as const;
const used = (percent: number, path = "/var/lib"): UntimedObservation => ({
  kind: "measured",
  measurement: {
    what: "disk",
    path,
    availableBytes: 1_000 - percent * 10,
    capacityBytes: 1_000,
    inodesFree: 100,
    inodes: 100,
  },
});
const wrong = (percent: number): readonly string[] => [
  `an image was removed while ${percent.toFixed(1)} % of the disk are used`,
];

describe("imageGcStops", () => {
  it.each<Case>([
    ["accepts removals from the high to the low mark", [used(70), removal(), used(61), removal()], []],
    ["reports a removal below the high mark", [used(69), removal()], wrong(69)],
    ["reports a removal at the low mark", [used(75), removal(), used(60), removal()], wrong(60)],
    ["ignores other file systems", [used(75, "/run/x"), removal()], wrong(0)],
    ["accepts removals under pressure, one after the other", [used(86), removal(), used(50), removal(), removal()], []],
    ["reports a removal long after the pressure", [used(86), removal(), used(50), [400, removal()]], wrong(50)],
  ])("%s", (_, steps, found) => {
    expect(verdicts(imageGcStops({ imageGc: POLICY, evictionThresholds: [THRESHOLD] }), steps)).toEqual(found);
  });

  it("ignores removals while images are also removed for their age", () => {
    const imageGc = { ...POLICY, maxAgeMs: 1 };
    expect(verdicts(imageGcStops({ imageGc, evictionThresholds: [] }), [removal()])).toEqual([]);
  });
});

describe("reclaimBeforeEviction", () => {
  const pull: UntimedObservation = {
    kind: "change",
    change: { atMs: 0, kind: "image pulled", id: IMAGE.id, podUid: "", name: REFERENCE, image: IMAGE },
  };
  const pulled: Step = [1, pull];
  const evictedFor = (resource: string): UntimedObservation => ({
    kind: "event",
    event: {
      type: "Warning",
      reason: "Evicted",
      message: `The node was low on resource: ${resource}. `,
      object: { kind: "Pod", namespace: "demo", name: "other", uid: "uid-2", fieldPath: "" },
    },
  });
  const EVICTED: Step = [1_000, evictedFor("ephemeral-storage")];
  const found = [`demo/other was evicted although image ${REFERENCE} could be removed`];
  const fails = (rpc: "ListImages" | "ListContainers"): UntimedObservation => ({
    ...call(rpc),
    ...({ fate: "fail", podUid: "" } as const),
  });
  it.each<Case>([
    ["reports an image that no pod names", [pulled, wanted(), EVICTED], found],
    ["ignores evictions for memory", [pulled, wanted(), [1_000, evictedFor("memory")]], []],
    ["accepts a young image", [wanted(), [600, pull], EVICTED], []],
    ["accepts an image of a pod", [pulled, wanted({}), EVICTED], []],
    [
      "reports an image of a pod that was removed",
      [pulled, wanted({}), wanted(), status({}, undefined), EVICTED],
      found,
    ],
    ["accepts an image of a pod that its source still lists", [pulled, wanted({}), status({}, undefined), EVICTED], []],
    ["accepts an image that the kubelet has tried to remove", [pulled, wanted(), removal(), EVICTED], []],
    ["rests while a needed request fails", [pulled, wanted(), [900, fails("ListImages")], EVICTED], []],
    [
      "accepts an image that a failed collection would have been the first to list",
      [[300, pull], wanted(), [500, fails("ListImages")], EVICTED],
      [],
    ],
    [
      "accepts an image that the first collection could not list because the runtime was down",
      [[300, pull], wanted(), [600, { kind: "action", text: "runtime started" }], EVICTED],
      [],
    ],
    [
      "reports an image that an earlier collection has listed",
      [[300, pull], wanted(), [800, fails("ListImages")], EVICTED],
      found,
    ],
    [
      "rests while a collection cannot list the containers",
      [pulled, wanted(), [900, call("ListImages")], [900, fails("ListContainers")], EVICTED],
      [],
    ],
    [
      "does not rest while other parts of the kubelet cannot list them",
      [pulled, wanted(), [900, call("ListImages")], [901, fails("ListContainers")], EVICTED],
      found,
    ],
    ["rests after the clock was set", [pulled, wanted(), [900, { kind: "clock", stepMs: -1 }], EVICTED], []],
    ["rests until the pods of all sources are known", [pulled, wanted(), [999, started], EVICTED], []],
  ])("%s", (_, steps, because) => {
    expect(verdicts(reclaimBeforeEviction({ sources: ["api"] }), steps)).toEqual(because);
  });
});
