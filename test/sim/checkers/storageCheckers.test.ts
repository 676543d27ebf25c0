/** Checkers of CSI volumes. */
import { describe, expect, it } from "vitest";
import { claimFollowsVolume } from "../../../src/sim/checkers/claimFollowsVolume.ts";
import { devicesOutliveContainers } from "../../../src/sim/checkers/devicesOutliveContainers.ts";
import { expandedInPlace } from "../../../src/sim/checkers/expandedInPlace.ts";
import { oneContext } from "../../../src/sim/checkers/oneContext.ts";
import { inUseWhileMounted } from "../../../src/sim/checkers/inUseWhileMounted.ts";
import { oneVolumeCall } from "../../../src/sim/checkers/oneVolumeCall.ts";
import { stagedBeforePublished } from "../../../src/sim/checkers/stagedBeforePublished.ts";
import { openGrowth, openStorage } from "../../../src/sim/checkers/storageSettles.ts";
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
    [
      "reports an expansion meanwhile",
      [csi("Publish", "asked"), csi("Publish", "asked", { rpc: "NodeExpandVolume", call: 2 })],
      [`NodeExpandVolume of ${DISK} v begins while NodePublishVolume is not answered`],
    ],
    ["accepts publications for several pods", [csi("Publish", "asked"), csi("Publish", "asked", { call: 2 })], []],
    ["accepts calls for other volumes", [csi("Stage", "asked"), csi("Stage", "asked", { call: 2, volume: "w" })], []],
  ])("%s", (_, steps, found) => expect(verdicts(oneVolumeCall(), steps)).toEqual(found));
});

describe("oneContext", () => {
  const [x, y] = [{ context: 'context="x"' }, { context: 'context="y"' }];
  const staged = csi("Stage", "done", x);
  const other = (context: string) => `${DISK} is asked to mount v with ${context}, and has staged it with context="x"`;
  it.each<Case>([
    ["accepts the context of the stage", [staged, csi("Publish", "asked", x), csi("Stage", "asked", x)], []],
    ["accepts volumes without one", [csi("Stage", "done"), csi("Publish", "asked")], []],
    ["reports a publication with another one", [staged, csi("Publish", "asked", y)], [other('context="y"')]],
    ["reports a publication without one", [staged, csi("Publish", "asked")], [other("none")]],
    ["reports a stage with another one", [staged, csi("Stage", "asked", y)], [other('context="y"')]],
    ["accepts another one once it is unstaged", [staged, csi("Unstage", "done"), csi("Stage", "asked", y)], []],
    ["accepts another one after a boot", [staged, boot, csi("Stage", "asked", y)], []],
    ["tells volumes apart", [staged, csi("Publish", "asked", { ...y, volume: "w" })], []],
  ])("%s", (_, steps, found) => expect(verdicts(oneContext(), steps)).toEqual(found));
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
      "reports a device that is unpublished meanwhile",
      [
        pod,
        bound,
        csi("Publish", "done", { path: "/k/volumeDevices/publish/pv/uid-1" }),
        starts,
        csi("Unpublish", "asked", { path: "/k/volumeDevices/publish/pv/uid-1" }),
      ],
      ["/k/volumeDevices/publish/pv/uid-1 is unpublished while demo/plain/main#0 runs"],
    ],
    [
      "reports a start after a boot",
      [pod, bound, csi("Publish", "done"), boot, starts],
      ["demo/plain/main#0 starts with 0 of 1 CSI volumes"],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(volumesOutliveContainers(), steps)).toEqual(found));
});

describe("expandedInPlace", () => {
  const GROWN = csi("Stage", "done", { rpc: "grow", path: "claim", bytes: 2n });
  const expand = csi("Publish", "asked", { rpc: "NodeExpandVolume", bytes: 2n });
  const [staged, published] = [csi("Stage", "done"), csi("Publish", "done")];
  it.each<Case>([
    ["accepts a published volume", [GROWN, staged, published, expand], []],
    [
      "reports a volume that is not published",
      [GROWN, staged, expand],
      [`${DISK} is asked to expand v at ${POD}, where it is not published`],
    ],
    [
      "reports one that is not staged",
      [GROWN, published, expand],
      [`${DISK} is asked to expand v, which is not staged`],
    ],
    [
      "reports one that was published before a boot",
      [GROWN, staged, published, boot, expand],
      [`${DISK} is asked to expand v at ${POD}, where it is not published`],
    ],
    [
      "reports a size that the volume does not have",
      [staged, published, expand],
      [`${DISK} is asked to expand v to 2 bytes, which has 0`],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(expandedInPlace(), steps)).toEqual(found));
});

describe("claimFollowsVolume", () => {
  const step = (rpc: Csi["rpc"], bytes: bigint): Csi => csi("Stage", "done", { rpc, path: "c", bytes });
  const made = step("provision", 1n);
  it.each<Case>([
    [
      "accepts a size that the driver has reached",
      [made, step("claimSize", 1n), step("NodeExpandVolume", 2n), step("claimSize", 2n)],
      [],
    ],
    [
      "reports one that it has not",
      [made, step("grow", 2n), step("claimSize", 2n)],
      ["claim c has 2 bytes, and its volume 1"],
    ],
    [
      "reports a claim that shrinks",
      [made, step("NodeExpandVolume", 2n), step("claimSize", 2n), step("claimSize", 1n)],
      ["claim c shrinks from 2 to 1 bytes"],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(claimFollowsVolume(), steps)).toEqual(found));
});

describe("devicesOutliveContainers", () => {
  const DEVICE = "/k/plugins/kubernetes.io/csi/volumeDevices/pv/dev/uid-1";
  const claimName = "a-device";
  const pod = wanted({
    uid: "uid-1",
    spec: { containers: [], volumes: [{ name: "a", persistentVolumeClaim: { claimName } }] },
  });
  const device = (what: "kept" | "released"): UntimedObservation => ({
    ...{ kind: "device", what, podUid: "uid-1", path: DEVICE },
  });
  const [starts, exits] = [change("container started"), change("container exited")];
  const early = "demo/plain/main#0 starts with 0 of 1 devices";
  it.each<Case>([
    ["accepts a device that is kept in use", [pod, device("kept"), starts, exits, device("released")], []],
    ["reports a start without it", [pod, starts], [early]],
    ["reports a start after a boot", [pod, device("kept"), boot, starts], [early]],
    [
      "reports one that is released meanwhile",
      [pod, device("kept"), starts, device("released")],
      [`${DEVICE} is released while demo/plain/main#0 runs`],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(devicesOutliveContainers(), steps)).toEqual(found));
});

describe("claimsGrow", () => {
  const open = (claimed: string, phase: string, isRefused: boolean, resizing = "", isAwaited = false) => {
    const status = { capacity: { storage: claimed }, allocatedResourceStatuses: { storage: resizing } };
    const objects: Record<string, object> = {
      persistentvolumeclaims: { spec: { volumeName: "pv" }, status },
      persistentvolumes: { spec: { capacity: { storage: "2Gi" }, csi: { volumeHandle: "v" } } },
    };
    const volumes = [{ name: "a", persistentVolumeClaim: { claimName: "c" } }];
    const server = {
      object: (resource: string) => objects[resource],
      objects: () => [{ metadata: { namespace: "demo" }, spec: { nodeName: "n", volumes }, status: { phase } }],
    } as unknown as Parameters<typeof openGrowth>[1];
    const states = { isInUse: () => isRefused, isAwaited: () => isAwaited };
    const sizes = states as unknown as NonNullable<Parameters<typeof openGrowth>[2]>["sizes"];
    return openGrowth({ config: { nodeName: "n" } } as Parameters<typeof openGrowth>[0], server, { sizes });
  };
  it("compares the claims of running pods with their volumes", () => {
    expect(open("1Gi", "Running", false)).toEqual(["claim c has 1Gi, its volume 2Gi"]);
    expect([open("2Gi", "Running", false), open("1Gi", "Failed", false), open("1Gi", "Running", true)]).toEqual([
      [],
      [],
      [],
    ]);
  });
  it("leaves infeasible expansions whose controller waits for the end of the pods", () => {
    const found = ["claim c has 1Gi, its volume 2Gi"];
    const infeasible = "NodeResizeInfeasible";
    expect([
      open("1Gi", "Running", false, infeasible, true),
      open("1Gi", "Running", false, infeasible, false),
      open("1Gi", "Running", false, "NodeResizePending", true),
    ]).toEqual([[], found, found]);
  });
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
