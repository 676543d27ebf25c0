/** Expansion of CSI volumes over a real socket, on a real loop device that grows: the driver expands, the claim follows. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CsiCapability } from "../../src/core/csi/csiDriverFacts.ts";
import { type CsiDriverOptions, startCsiDriver, type TestCsiDriver } from "../support/csiDriver.ts";
import { CSI_NAME, type CsiNode, startCsiNode } from "../support/csiNode.ts";
import { type LoopDevice, loopDevice, missingForLoopDevices } from "../support/loopDevice.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { missingForMounts, type PrivateMounts, privateMounts } from "../support/privateMounts.ts";
import { waitFor } from "../support/waitFor.ts";

const MOUNT = { volumeMounts: [{ name: "data", mountPath: "/data" }] };
const DEVICE = { volumeDevices: [{ name: "data", devicePath: "/dev/data" }] };
const CAN: readonly CsiCapability[] = ["STAGE_UNSTAGE_VOLUME", "EXPAND_VOLUME"];
const MEGABYTE = 2 ** 20;

describe.skipIf(mustSkip("expansion", [...missingForMounts(), ...missingForLoopDevices()]))("a CSI volume", () => {
  let place: PrivateMounts;
  let disk: LoopDevice;
  let driver: TestCsiDriver;
  let fault: CsiDriverOptions["fault"];
  let life: CsiNode | undefined;
  let patches: unknown[];
  /** Sizes in the API server. */
  let sizes: { claim: string; volume: string; mode: string; status: object };
  beforeEach(async () => {
    [place, disk, fault, patches] = [privateMounts(), loopDevice(16), undefined, []];
    sizes = { claim: "16Mi", volume: "16Mi", mode: "Filesystem", status: {} };
    execFileSync("mkfs.ext4", ["-q", disk.device]);
    driver = await startCsiDriver(join(place.place, "csi.sock"), {
      capabilities: CAN,
      device: () => disk.device,
      fault: (call) => fault?.(call),
    });
  });
  afterEach(async () => {
    life?.kill();
    driver.stop();
    try {
      await driver.release();
    } finally {
      place.close();
      disk.detach();
    }
  });

  const objects = {
    get persistentvolumeclaims() {
      return {
        metadata: { namespace: "default", name: "c", uid: "c1", resourceVersion: "7" },
        spec: { volumeName: "pv1", resources: { requests: { storage: sizes.volume } } },
        status: { phase: "Bound", capacity: { storage: sizes.claim }, ...sizes.status },
      };
    },
    get persistentvolumes() {
      const csi = { driver: CSI_NAME, volumeHandle: "h1" };
      return {
        metadata: { name: "pv1" },
        spec: { claimRef: { uid: "c1" }, csi, volumeMode: sizes.mode, capacity: { storage: sizes.volume } },
      };
    },
  };
  /** The controller has made the disk larger. */
  const grow = (mebibytes = 32): void => {
    disk.grow(mebibytes);
    sizes.volume = `${mebibytes}Mi`;
    sizes.status = {
      allocatedResourceStatuses: { storage: "NodeResizePending" },
      allocatedResources: { storage: sizes.volume },
    };
  };
  const start = async (use: object = MOUNT, capabilities = CAN) => {
    life = await startCsiNode({ place, objects, capabilities, patches, syncPeriodMs: 100 });
    const { events } = life;
    const said = () => events.map(({ reason, message, object }) => `${object.kind} ${reason}: ${message}`);
    const { start: startPod } = life;
    return { pod: startPod("a", use), another: () => startPod("b", use), said };
  };
  const expansions = () => driver.calls.filter(({ rpc }) => rpc === "nodeExpandVolume");
  const grownTo = (size: string): boolean => JSON.stringify(patches.at(-1)).includes(`"storage":"${size}"`);
  const STARTED = {
    metadata: { resourceVersion: "7" },
    status: { allocatedResourceStatuses: { storage: "NodeResizeInProgress" } },
  };
  const FINISHED = {
    metadata: { resourceVersion: "7" },
    status: { capacity: { storage: "32Mi" }, allocatedResourceStatuses: null },
  };
  const SUCCEEDED = 'FileSystemResizeSuccessful: MountVolume.NodeExpandVolume succeeded for volume "pv1" ';

  it("grows while containers use it, and its claim follows", async () => {
    const { pod, said } = await start();
    await pod.until("mounted");
    const target = join(place.place, "pods/a/volumes/kubernetes.io~csi/pv1/mount");
    grow();
    await waitFor("the claim", () => patches.length === 2);
    expect(patches).toEqual([STARTED, FINISHED]);
    expect(expansions()[0]?.request).toMatchObject({
      ...{ volumeId: "h1", volumePath: target, capacityRange: { requiredBytes: BigInt(32 * MEGABYTE) } },
      ...{ stagingTargetPath: expect.stringMatching(/\/globalmount$/) as unknown, volumeCapability: { mount: {} } },
    });
    expect(said().map((text) => text.trim())).toEqual(
      ["Pod", "PersistentVolumeClaim"].map((kind) => `${kind} ${SUCCEEDED}`.trim()),
    );
  });

  it("grows after its set up, before its pod starts", async () => {
    grow();
    const { pod } = await start();
    await pod.until("mounted");
    expect(patches).toEqual([STARTED, FINISHED]);
    expect(expansions()).toHaveLength(1);
  });

  it("that is a device is expanded by its driver", async () => {
    sizes.mode = "Block";
    const { pod } = await start(DEVICE);
    await pod.until("mounted");
    grow();
    await waitFor("the claim", () => patches.length === 2);
    expect(expansions()[0]?.request).toMatchObject({
      volumePath: join(place.place, "plugins/kubernetes.io/csi/volumeDevices/publish/pv1/a"),
      volumeCapability: { block: {} },
    });
    // Its loop device outlives the kubelet.
    pod.end();
    await pod.gone();
  });

  it("whose driver cannot expand it in use stays as it is, and is not asked again", async () => {
    fault = ({ rpc }) => (rpc === "nodeExpandVolume" ? { code: 9, details: "in use" } : undefined);
    grow();
    const { pod } = await start();
    await pod.until("mounted");
    expect(patches).toEqual([
      STARTED,
      { status: { conditions: [expect.objectContaining({ type: "NodeResizeError", status: "True" })] } },
    ]);
    expect(expansions()).toHaveLength(1);
  });

  it("grows in use again once its driver has expanded it for another pod", async () => {
    fault = ({ rpc }) => (rpc === "nodeExpandVolume" ? { code: 9, details: "in use" } : undefined);
    const { pod, another } = await start();
    await pod.until("mounted");
    grow();
    await waitFor("the refusal", () => JSON.stringify(patches).includes("NodeResizeError"));
    fault = undefined;
    await another().until("mounted");
    expect(grownTo("32Mi")).toBe(true);
    sizes.claim = "32Mi";
    grow(48);
    await waitFor("the claim", () => grownTo("48Mi"));
  });

  it("that can never grow says so in its claim", async () => {
    fault = ({ rpc }) => (rpc === "nodeExpandVolume" ? { code: 11, details: "too large" } : undefined);
    const { pod, said } = await start();
    await pod.until("mounted");
    grow();
    await waitFor("the event", () => said()[0]);
    expect(said()[0]).toMatch(
      /^Pod VolumeResizeFailed: NodeExpandVolume.NodeExpandVolume failed for volume "pv1" : Expander.NodeExpand failed to expand the volume .*too large/,
    );
    expect(patches[1]).toMatchObject({ status: { allocatedResourceStatuses: { storage: "NodeResizeInfeasible" } } });
  });

  it("is tried again after an answer that decides nothing", async () => {
    fault = ({ rpc }) =>
      rpc === "nodeExpandVolume" && expansions().length === 1 ? { code: 14, details: "busy" } : undefined;
    const { pod, said } = await start();
    await pod.until("mounted");
    grow();
    await waitFor("the end", () => said().some((text) => text.includes(SUCCEEDED)));
    expect([expansions().length, said()[0]]).toEqual([2, expect.stringContaining("busy")]);
    expect(patches.filter((patch) => JSON.stringify(patch).includes("NodeResizeError"))).toEqual([]);
  });

  it("keeps its pod waiting while a driver without expansion has too little", async () => {
    grow();
    const { said } = await start(MOUNT, ["STAGE_UNSTAGE_VOLUME"]);
    await waitFor("the event", () => said()[0]);
    expect(said()[0]).toBe(
      `Pod FailedMount: MountVolume.Setup failed while expanding volume for volume "pv1" : Expander.NodeExpand found CSI plugin kubernetes.io/csi/${CSI_NAME} to not support node expansion`,
    );
  });
});
