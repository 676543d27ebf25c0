/** CSI volumes that must be attached, over a real socket with real mounts: what pods show while they are not, and who has them. */
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { kubeletError } from "../../src/core/errors.ts";
import { sha256 } from "../../src/core/sha256.ts";
import { type CsiDriverOptions, startCsiDriver, type TestCsiDriver } from "../support/csiDriver.ts";
import { CSI_IN_USE, CSI_NAME, type CsiNode, type CsiNodeOptions, startCsiNode } from "../support/csiNode.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { missingForMounts, type PrivateMounts, privateMounts } from "../support/privateMounts.ts";
import { waitFor } from "../support/waitFor.ts";

const MOUNT = { volumeMounts: [{ name: "data", mountPath: "/data" }] };
const DEVICE = { volumeDevices: [{ name: "data", devicePath: "/dev/data" }] };
const ATTACHED = { attached: true, attachmentMetadata: { path: "/dev/x" } };
const ID = `csi-${sha256(`h1${CSI_NAME}n1`)}`;

describe.skipIf(mustSkip("CSI volumes", missingForMounts()))("a CSI volume that must be attached", () => {
  let place: PrivateMounts;
  let driver: TestCsiDriver;
  let fault: CsiDriverOptions["fault"];
  const lives: CsiNode[] = [];
  /** The objects of the API server. */
  let server: { mode: string; accessMode: string; attachment: () => object };
  beforeEach(async () => {
    place = privateMounts();
    fault = undefined;
    server = { mode: "Filesystem", accessMode: "ReadWriteOnce", attachment: () => ({ status: ATTACHED }) };
    driver = await startCsiDriver(join(place.place, "csi.sock"), { fault: (call) => fault?.(call) });
  });
  afterEach(async () => {
    for (const life of lives.splice(0)) life.kill();
    driver.stop();
    try {
      await driver.release();
    } finally {
      place.close();
    }
  });

  const objects = {
    persistentvolumeclaims: { metadata: { uid: "c1" }, spec: { volumeName: "pv1" }, status: { phase: "Bound" } },
    get persistentvolumes() {
      const csi = { driver: CSI_NAME, volumeHandle: "h1" };
      const { mode: volumeMode, accessMode } = server;
      return {
        metadata: { name: "pv1" },
        spec: { claimRef: { uid: "c1" }, accessModes: [accessMode], volumeMode, csi },
      };
    },
    get volumeattachments() {
      return server.attachment();
    },
  };
  const live = async (attachedBy: CsiNodeOptions["attachedBy"]) => {
    const life = await startCsiNode({ place, objects, ...(attachedBy && { attachedBy }) });
    lives.push(life);
    return { ...life, said: () => life.events.map(({ reason, message }) => `${reason}: ${message}`) };
  };
  const rpcs = () => driver.calls.map(({ rpc }) => rpc);

  it.each<[string, () => object, string]>([
    [
      "is not attached yet",
      () => ({ status: { attached: false } }),
      `volume h1 is not attached for volume attachment ${ID}`,
    ],
    ["cannot be attached", () => ({ status: { attached: false, attachError: { message: "no room" } } }), "no room"],
    [
      "goes",
      () => ({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" }, status: ATTACHED }),
      "volume attachment is being deleted",
    ],
    [
      "is missing",
      () => {
        throw kubeletError("NotFound", `volumeattachments.storage.k8s.io "${ID}" not found`);
      },
      `volume h1 has GET error for volume attachment ${ID}: volumeattachments.storage.k8s.io "${ID}" not found`,
    ],
  ])("says that its attachment %s, and is mounted once it is attached", async (_title, attachment, expected) => {
    server.attachment = attachment;
    const { start, said } = await live("controller");
    const pod = start("a", MOUNT);
    await waitFor("the event", () => said()[0]);
    expect([said()[0], rpcs()]).toEqual([
      `FailedMount: MountVolume.WaitForAttach failed for volume "pv1" : ${expected}`,
      [],
    ]);
    server.attachment = () => ({ status: ATTACHED });
    await pod.until("mounted");
    expect(driver.calls.map(({ request }) => request["publishContext"])).toEqual([
      { path: "/dev/x" },
      { path: "/dev/x" },
    ]);
  });

  it("says the same of a device", async () => {
    server.mode = "Block";
    server.attachment = () => ({ status: { attached: false, attachError: { message: "no room" } } });
    const { start, said } = await live("controller");
    start("a", DEVICE);
    await waitFor("the event", () => said()[0]);
    expect(said()[0]).toBe('FailedMapVolume: MapVolume.WaitForAttach failed for volume "pv1" : no room');
  });

  it("is refused where no controller attaches it, and is in use no longer than its pod", async () => {
    const { start, said, inUse } = await live("nobody");
    const pod = start("a", MOUNT);
    await waitFor("another attempt", () => said().length > 1);
    expect(new Set(said())).toEqual(
      new Set([
        'FailedAttachVolume: AttachVolume.Attach failed for volume "pv1" : attaching volumes from the kubelet is not supported',
      ]),
    );
    expect([inUse(), rpcs()]).toEqual([[CSI_IN_USE], []]);
    pod.end();
    await pod.gone();
    expect([inUse(), rpcs()]).toEqual([[], []]);
  });

  it("of an earlier kubelet stays mounted where no controller attaches it, and is given back", async () => {
    const first = await live("controller");
    await first.start("a", MOUNT).until("mounted");
    first.kill();
    const second = await live("nobody");
    const [a, b] = [second.start("a", MOUNT), second.start("b", MOUNT)];
    await a.until("mounted");
    await b.until("mounted");
    expect([second.said(), second.inUse()]).toEqual([[], [CSI_IN_USE]]);
    for (const pod of [a, b]) {
      pod.end();
      await pod.gone();
    }
    expect([rpcs().slice(-2), second.inUse()]).toEqual([["nodeUnpublishVolume", "nodeUnstageVolume"], []]);
    const c = second.start("c", MOUNT);
    await waitFor("the refusal", () => second.said()[0]);
    expect(second.said()[0]).toMatch(/^FailedAttachVolume: /);
    c.end();
    await c.gone();
  });

  it("needs no attachment where its driver has none", async () => {
    server.attachment = () => {
      throw kubeletError("NotFound", "no attachment");
    };
    const { start, inUse } = await live(undefined);
    await start("a", MOUNT).until("mounted");
    expect(inUse()).toEqual([]);
  });

  it("for one pod is refused to a second one until the first has gone", async () => {
    server.accessMode = "ReadWriteOncePod";
    const { start, said } = await live("controller");
    const a = start("a", MOUNT);
    await a.until("mounted");
    const b = start("b", MOUNT);
    await waitFor("the refusal", () => said()[0]);
    expect(said()[0]).toBe(
      'FailedMount: MountVolume.SetUp failed for volume "pv1" : volume uses the ReadWriteOncePod access mode and is already in use by another pod',
    );
    a.end();
    await b.until("mounted");
  });

  it("for one pod is free after a publication that has changed nothing, and taken after any other", async () => {
    server.accessMode = "ReadWriteOncePod";
    let code = 13;
    fault = ({ rpc }) => (rpc === "nodePublishVolume" ? { code, details: "not now" } : undefined);
    const { start, said, events } = await live("controller");
    const pods = [start("a", MOUNT), start("b", MOUNT)];
    await waitFor("failures of both", () => new Set(events.map(({ object }) => object.name)).size === 2);
    expect(said().filter((text) => !text.includes("not now"))).toEqual([]);
    code = 14;
    await waitFor("the refusal", () => said().some((text) => text.endsWith("is already in use by another pod")));
    for (const pod of pods) pod.end();
    for (const pod of pods) await pod.gone();
  });
});
