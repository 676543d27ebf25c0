/** Checkers of CSI volumes. */
import { describe, expect, it } from "vitest";
import { inUseWhileMounted } from "../../../src/sim/checkers/inUseWhileMounted.ts";
import { oneVolumeCall } from "../../../src/sim/checkers/oneVolumeCall.ts";
import { stagedBeforePublished } from "../../../src/sim/checkers/stagedBeforePublished.ts";
import { openStorage } from "../../../src/sim/checkers/storageSettles.ts";
import { unstagedLast } from "../../../src/sim/checkers/unstagedLast.ts";
import { volumeDataStays } from "../../../src/sim/checkers/volumeDataStays.ts";
import { volumesOutliveContainers } from "../../../src/sim/checkers/volumesOutliveContainers.ts";
import type { UntimedObservation } from "../../../src/sim/simObservation.ts";
import { change, type Step, verdicts, wanted } from "./observations.ts";

type Case = readonly [what: string, steps: readonly Step[], found: readonly string[]];
type Csi = UntimedObservation & { readonly kind: "csi" };

const DISK = "disk.csi.example.com";
const NAME = `kubernetes.io/csi/${DISK}^v`;
const POD = "/k/pods/uid-1/volumes/kubernetes.io~csi/pv/mount";
const PATHS = { Stage: "/stage", Unstage: "/stage", Publish: POD, Unpublish: POD };

const csi = (rpc: keyof typeof PATHS, what: Csi["what"], more: Partial<Csi> = {}): Csi => ({
  ...{ kind: "csi", driver: DISK, rpc: `Node${rpc}Volume`, what, volume: "v", path: PATHS[rpc], call: 1 },
  ...more,
});
const boot: UntimedObservation = { kind: "boot" };
const inUse = (...volumes: readonly string[]): UntimedObservation => ({ kind: "inUse", volumes });
const detach = csi("Stage", "done", { rpc: "detach", path: "" });

describe("stagedBeforePublished", () => {
  const early = `${DISK} is asked to publish v, which is not staged`;
  it.each<Case>([
    ["accepts a staged volume", [csi("Stage", "done"), csi("Publish", "asked")], []],
    ["reports a volume that is being staged", [csi("Stage", "asked"), csi("Publish", "asked")], [early]],
    ["reports an unstaged volume", [csi("Stage", "done"), csi("Unstage", "done"), csi("Publish", "asked")], [early]],
    ["reports a volume that was staged before a boot", [csi("Stage", "done"), boot, csi("Publish", "asked")], [early]],
    ["accepts a driver that does not stage", [csi("Publish", "asked", { driver: "plain.csi.example.com" })], []],
  ])("%s", (_, steps, found) => expect(verdicts(stagedBeforePublished(), steps)).toEqual(found));
});

describe("unstagedLast", () => {
  const used = `${DISK} is asked to unstage v, which is published at ${POD}`;
  it.each<Case>([
    ["reports a published volume", [csi("Publish", "done"), csi("Unstage", "asked")], [used]],
    [
      "reports one that is being unpublished",
      [csi("Publish", "done"), csi("Unpublish", "asked"), csi("Unstage", "asked")],
      [used],
    ],
    ["accepts an unpublished volume", [csi("Publish", "done"), csi("Unpublish", "done"), csi("Unstage", "asked")], []],
    ["accepts one that was published before a boot", [csi("Publish", "done"), boot, csi("Unstage", "asked")], []],
    ["tells volumes apart", [csi("Publish", "done", { volume: "w" }), csi("Unstage", "asked")], []],
  ])("%s", (_, steps, found) => expect(verdicts(unstagedLast(), steps)).toEqual(found));
});

describe("oneVolumeCall", () => {
  it.each<Case>([
    [
      "reports a second stage",
      [csi("Stage", "asked"), csi("Stage", "asked", { call: 2 })],
      [`NodeStageVolume of ${DISK} v begins while NodeStageVolume is not answered`],
    ],
    [
      "reports a publication meanwhile",
      [csi("Unstage", "asked"), csi("Publish", "asked", { call: 2 })],
      [`NodePublishVolume of ${DISK} v begins while NodeUnstageVolume is not answered`],
    ],
    ["accepts a call after the answer", [csi("Stage", "asked"), csi("Stage", "ended"), csi("Stage", "asked")], []],
    ["accepts publications for several pods", [csi("Publish", "asked"), csi("Publish", "asked", { call: 2 })], []],
    ["accepts calls for other volumes", [csi("Stage", "asked"), csi("Stage", "asked", { call: 2, volume: "w" })], []],
  ])("%s", (_, steps, found) => expect(verdicts(oneVolumeCall(), steps)).toEqual(found));
});

describe("inUseWhileMounted", () => {
  const dropped = `${NAME} is mounted, and no longer in use`;
  it.each<Case>([
    ["accepts a volume in use", [inUse(NAME), csi("Stage", "asked"), csi("Stage", "done"), inUse(NAME)], []],
    [
      "reports a stage of one that is not",
      [csi("Stage", "asked")],
      [`NodeStageVolume of ${NAME} is asked, which is not in use`],
    ],
    ["reports one that is no longer", [inUse(NAME), csi("Stage", "done"), inUse()], [dropped]],
    ["accepts one that was unmounted", [inUse(NAME), csi("Stage", "done"), csi("Unstage", "done"), inUse()], []],
    ["accepts one that was mounted before a boot", [inUse(NAME), csi("Stage", "done"), boot, inUse()], []],
    [
      "reports one that is detached",
      [inUse(NAME), csi("Publish", "done"), detach],
      [`${NAME} is detached while it is mounted`],
    ],
    ["accepts a driver that does not attach", [csi("Stage", "asked", { driver: "share.csi.example.com" })], []],
  ])("%s", (_, steps, found) => expect(verdicts(inUseWhileMounted(), steps)).toEqual(found));
});

describe("volumesOutliveContainers", () => {
  const pod = wanted({
    uid: "uid-1",
    spec: { containers: [], volumes: [{ name: "a", persistentVolumeClaim: { claimName: "a" } }] },
  });
  const bound = csi("Stage", "done", { rpc: "provision", path: "a" });
  const [starts, exits] = [change("container started"), change("container exited")];
  it.each<Case>([
    ["accepts a claim of another kind", [pod, starts], []],
    ["accepts a published volume", [pod, bound, csi("Publish", "done"), starts, exits, csi("Unpublish", "asked")], []],
    [
      "reports a start without it",
      [pod, bound, csi("Publish", "asked"), starts],
      ["demo/plain/main#0 starts with 0 of 1 CSI volumes"],
    ],
    [
      "reports one that is unpublished meanwhile",
      [pod, bound, csi("Publish", "done"), starts, csi("Unpublish", "asked")],
      [`${POD} is unpublished while demo/plain/main#0 runs`],
    ],
    [
      "reports a start after a boot",
      [pod, bound, csi("Publish", "done"), boot, starts],
      ["demo/plain/main#0 starts with 0 of 1 CSI volumes"],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(volumesOutliveContainers(), steps)).toEqual(found));
});

describe("volumeDataStays", () => {
  it("reports lost data", () => {
    expect(verdicts(volumeDataStays(), [csi("Unpublish", "done"), csi("Unstage", "lost")])).toEqual([
      "the data of v at /stage is gone",
    ]);
  });
});

describe("storageSettles", () => {
  it("compares the CSINode with the drivers", () => {
    const drivers = [{ name: DISK, nodeID: "old", topologyKeys: [] }];
    const server = { object: () => ({ spec: { drivers } }) } as unknown as Parameters<typeof openStorage>[1];
    const node = { config: { nodeName: "n" } } as Parameters<typeof openStorage>[0];
    const storage = (nodeId: string) =>
      ({ processes: [{ name: DISK }], nodeIdOf: () => nodeId }) as unknown as Parameters<typeof openStorage>[2];
    expect([openStorage(node, server, storage("old")), openStorage(node, server, storage("new"))]).toEqual([
      [],
      [`the CSINode has the node ID old of ${DISK}, its driver new`],
    ]);
  });
});
