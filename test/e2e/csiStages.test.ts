/**
 * CSI volumes that an earlier kubelet staged and published to no pod, in the files of upstream's kubelet, over a real socket
 * with real mounts: taken over by a pod, or unstaged.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import * as fs from "node:fs/promises";
import { dirname, join } from "node:path";
import { lastValueFrom } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sha256 } from "../../src/core/sha256.ts";
import { type CsiDriverOptions, startCsiDriver, type TestCsiDriver } from "../support/csiDriver.ts";
import { CSI_IN_USE, CSI_NAME, type CsiNode, type CsiNodeOptions, startCsiNode } from "../support/csiNode.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { missingForMounts, type PrivateMounts, privateMounts } from "../support/privateMounts.ts";
import { waitFor } from "../support/waitFor.ts";

const MOUNT = { volumeMounts: [{ name: "data", mountPath: "/data" }] };
const PLUGIN = "plugins/kubernetes.io/csi";
const VOLUME = { volume: `${CSI_NAME}^h1` };
const objectsOf = (volumeMode: string): CsiNodeOptions["objects"] => ({
  persistentvolumeclaims: { metadata: { uid: "c1" }, spec: { volumeName: "pv1" }, status: { phase: "Bound" } },
  persistentvolumes: {
    metadata: { name: "pv1" },
    spec: { claimRef: { uid: "c1" }, volumeMode, csi: { driver: CSI_NAME, volumeHandle: "h1" } },
  },
});

describe.skipIf(mustSkip("stages without a pod", missingForMounts()))("a stage without a pod", () => {
  let place: PrivateMounts;
  let driver: TestCsiDriver;
  let fault: CsiDriverOptions["fault"];
  const lives: CsiNode[] = [];
  beforeEach(async () => {
    [place, fault] = [privateMounts(), undefined];
    driver = await startCsiDriver(join(place.place, "csi.sock"), { fault: (call) => fault?.(call) });
  });
  afterEach(async () => {
    for (const each of lives.splice(0)) each.kill();
    driver.stop();
    try {
      await driver.release();
    } finally {
      place.close();
    }
  });

  const at = (...names: readonly string[]): string => join(place.place, ...names);
  const stageDir = (): string => at(PLUGIN, CSI_NAME, sha256("h1"));
  const globalMount = (): string => join(stageDir(), "globalmount");
  const rpcs = () => driver.calls.map(({ rpc }) => rpc);
  const mountPoints = async (): Promise<readonly (string | undefined)[]> =>
    (await fs.readFile("/proc/self/mountinfo", "utf8"))
      .split("\n")
      .map((line) => line.split(" ")[4])
      .filter((path) => path?.startsWith(`${place.place}/`));
  const write = async (path: string, content: object): Promise<void> => {
    await fs.mkdir(dirname(path), { recursive: true });
    await fs.writeFile(path, `${JSON.stringify(content)}\n`);
  };
  /** The state after MountDevice of upstream's kubelet. */
  const staged = async (): Promise<void> => {
    await write(join(stageDir(), "vol_data.json"), { driverName: CSI_NAME, volumeHandle: "h1" });
    await fs.mkdir(globalMount());
    execFileSync("mount", ["-t", "tmpfs", "csi-h1", globalMount()]);
  };
  /** The state after SetUpDevice of upstream's kubelet. */
  const stagedDevice = async (): Promise<void> => {
    const ids = { attachmentID: "csi-1", nodeName: "n1", specVolID: "pv1" };
    await write(at(PLUGIN, "volumeDevices/pv1/data/vol_data.json"), {
      ...{ ...ids, driverName: CSI_NAME, volumeHandle: "h1" },
    });
    await fs.mkdir(at(PLUGIN, "volumeDevices/staging/pv1"), { recursive: true });
  };
  const live = async (volumeMode = "Filesystem", options: Partial<CsiNodeOptions> = {}): Promise<CsiNode> => {
    const life = await startCsiNode({ place, objects: objectsOf(volumeMode), ...options });
    lives.push(life);
    return life;
  };
  const unstage = (life: CsiNode) => lastValueFrom(life.volumes.unstage());

  it("is in use, and unstaged when no pod has it", async () => {
    await staged();
    const life = await live();
    expect(life.inUse()).toEqual([CSI_IN_USE]);
    expect(await unstage(life)).toEqual([]);
    expect(driver.calls.map(({ rpc, request }) => [rpc, request])).toEqual([
      ["nodeUnstageVolume", { volumeId: "h1", stagingTargetPath: globalMount() }],
    ]);
    expect([life.inUse(), await mountPoints(), existsSync(stageDir())]).toEqual([[], [], false]);
  });

  it("is taken over by a pod, and unstaged after it", async () => {
    await staged();
    const life = await live();
    const pod = life.start("a", MOUNT);
    await pod.until("mounted");
    expect(await unstage(life)).toEqual([]);
    const target = at("pods/a/volumes/kubernetes.io~csi/pv1/mount");
    expect([rpcs(), (await mountPoints()).toSorted()]).toEqual([
      ["nodeStageVolume", "nodePublishVolume"],
      [globalMount(), target].toSorted(),
    ]);
    pod.end();
    await pod.gone();
    expect([rpcs().slice(2), life.inUse(), await mountPoints()]).toEqual([
      ["nodeUnpublishVolume", "nodeUnstageVolume"],
      [],
      [],
    ]);
  });

  it("that is a device is unstaged", async () => {
    await stagedDevice();
    const life = await live("Block");
    expect(life.inUse()).toEqual([CSI_IN_USE]);
    expect(await unstage(life)).toEqual([]);
    expect(driver.calls.map(({ rpc, request }) => [rpc, request])).toEqual([
      ["nodeUnstageVolume", { volumeId: "h1", stagingTargetPath: at(PLUGIN, "volumeDevices/staging/pv1") }],
    ]);
    const left = await fs.readdir(at(PLUGIN, "volumeDevices"));
    expect([life.inUse(), left.filter((name) => name === "pv1")]).toEqual([[], []]);
  });

  it("that is a device stays while one is published", async () => {
    await stagedDevice();
    await write(at(PLUGIN, "volumeDevices/publish/pv1/somebody"), {});
    const path = at(PLUGIN, "volumeDevices/staging/pv1");
    const reason = `the device is still published at ${at(PLUGIN, "volumeDevices/publish/pv1/somebody")}`;
    expect([await unstage(await live("Block")), rpcs()]).toEqual([[{ ...VOLUME, path, reason }], []]);
  });

  it("stays while a pod without a record has it mounted", async () => {
    await staged();
    const target = at("pods/a/volumes/kubernetes.io~csi/pv1/mount");
    await fs.mkdir(target, { recursive: true });
    execFileSync("mount", ["--bind", globalMount(), target]);
    const life = await live();
    const reason = `the volume is still mounted at ${target}`;
    expect([await unstage(life), rpcs()]).toEqual([[{ ...VOLUME, path: globalMount(), reason }], []]);
    expect(life.inUse()).toEqual([CSI_IN_USE]);
  });

  it("stays until its driver has registered, and while the driver fails", async () => {
    await staged();
    const reason = `kubernetes.io/csi: attacher.UnmountDevice failed to create newCsiDriverClient: driver name ${CSI_NAME} not found in the list of registered CSI drivers`;
    const path = globalMount();
    expect(await unstage(await live("Filesystem", { capabilities: undefined }))).toEqual([{ ...VOLUME, path, reason }]);
    fault = () => ({ code: 13, details: "ill" });
    const life = await live();
    expect([await unstage(life), life.inUse()]).toEqual([
      [{ ...VOLUME, path, reason: expect.stringContaining("ill") as unknown }],
      [CSI_IN_USE],
    ]);
    fault = undefined;
    expect([await unstage(life), life.inUse(), await mountPoints()]).toEqual([[], [], []]);
  });

  it("is found again by a kubelet after one that was killed while it unstaged", async () => {
    await staged();
    fault = () => "hang";
    const first = await live();
    const hanging = first.volumes.unstage().subscribe();
    await waitFor("the call", () => rpcs().length > 0);
    hanging.unsubscribe();
    fault = undefined;
    const second = await live();
    expect(second.inUse()).toEqual([CSI_IN_USE]);
    expect([await unstage(second), second.inUse(), await mountPoints()]).toEqual([[], [], []]);
  });

  it("waits while the claim of a pod is not read yet", async () => {
    await staged();
    const life = await live("Filesystem", { objects: { ...objectsOf("Filesystem"), persistentvolumeclaims: "never" } });
    life.start("a", MOUNT);
    const reason = "a pod may want the volume: the claims of all pods are not read yet";
    expect([await unstage(life), rpcs()]).toEqual([[{ ...VOLUME, path: globalMount(), reason }], []]);
  });

  it.each<[string, object]>([
    ["names another volume", { driverName: CSI_NAME, volumeHandle: "h2" }],
    ["names another driver", { driverName: "other.example.com", volumeHandle: "h1" }],
    ["is cut off", {}],
  ])("whose record %s stays as it is", async (_, data) => {
    await staged();
    await write(join(stageDir(), "vol_data.json"), data);
    const life = await live();
    expect([life.inUse(), await unstage(life), rpcs()]).toEqual([[], [], []]);
    expect(await mountPoints()).toEqual([globalMount()]);
  });
});
