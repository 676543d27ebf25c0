/** CSI volumes over a real socket with real mounts: staged once, shared by pods, attached first, found again after kill -9. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { lastValueFrom } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { podUid } from "../../src/core/ids.ts";
import { sha256 } from "../../src/core/sha256.ts";
import type { CsiDriver } from "../../src/core/volume/csiVolume.ts";
import { startCsiDriver, type TestCsiDriver } from "../support/csiDriver.ts";
import { CSI_IN_USE, CSI_MOUNT, CSI_NAME, type CsiNode, type CsiNodePod, startCsiNode } from "../support/csiNode.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { missingForMounts, type PrivateMounts, privateMounts } from "../support/privateMounts.ts";
import { waitFor } from "../support/waitFor.ts";

const EBS = "ebs.csi.aws.com";
const OBJECTS = {
  persistentvolumeclaims: { metadata: { uid: "c1" }, spec: { volumeName: "pv1" }, status: { phase: "Bound" } },
  persistentvolumes: {
    metadata: { name: "pv1" },
    spec: { claimRef: { uid: "c1" }, accessModes: ["ReadWriteOnce"], csi: { driver: CSI_NAME, volumeHandle: "h1" } },
  },
  volumeattachments: { status: { attached: true, attachmentMetadata: { path: "/dev/x" } } },
};

describe.skipIf(mustSkip("CSI volumes", missingForMounts()))("CSI volumes", () => {
  let place: PrivateMounts;
  let driver: TestCsiDriver;
  const lives: CsiNode[] = [];
  beforeEach(async () => {
    place = privateMounts();
    driver = await startCsiDriver(join(place.place, "csi.sock"));
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

  /** A life of the kubelet; volumes need no attachment, unless `spec` says so. */
  const live = async (spec: CsiDriver["spec"] = { attachRequired: false }, syncPeriodMs = 60_000) => {
    const life = await startCsiNode({
      place,
      objects: OBJECTS,
      spec,
      syncPeriodMs,
      status: {},
      attachedBy: "controller",
    });
    lives.push(life);
    return life;
  };
  const rpcs = () => driver.calls.map(({ rpc }) => rpc);
  const waits = (pod: CsiNodePod) => [...pod.state().actual.values()][0]?.waitsFor;
  const left = async () =>
    (await readFile("/proc/self/mountinfo", "utf8")).split("\n").filter((line) => line.includes(`${place.place}/`))
      .length;

  it("are staged once, published for each pod, and unstaged after the last", async () => {
    const { start, inUse } = await live();
    const [a, b] = [start("a"), start("b")];
    await a.until("mounted");
    await b.until("mounted");
    expect([rpcs(), inUse()]).toEqual([["nodeStageVolume", "nodePublishVolume", "nodePublishVolume"], []]);
    const stageDir = join(place.place, "plugins/kubernetes.io/csi", CSI_NAME, sha256("h1"));
    expect(driver.calls[0]?.request).toMatchObject({ volumeId: "h1", stagingTargetPath: `${stageDir}/globalmount` });
    const podDir = join(place.place, "pods/a/volumes/kubernetes.io~csi/pv1");
    expect(driver.calls[1]?.request).toMatchObject({ targetPath: `${podDir}/mount` });
    expect(await readFile(`${podDir}/vol_data.json`, "utf8")).toBe(
      `{"attachmentID":"csi-${sha256(`h1${CSI_NAME}n1`)}","driverName":"${CSI_NAME}","nodeName":"n1","specVolID":"pv1","volumeHandle":"h1","volumeLifecycleMode":"Persistent"}\n`,
    );
    a.end();
    await a.gone();
    expect(rpcs().slice(3)).toEqual(["nodeUnpublishVolume"]);
    b.end();
    await b.gone();
    expect(rpcs().slice(4)).toEqual(["nodeUnpublishVolume", "nodeUnstageVolume"]);
    expect(await left()).toBe(0);
  });

  it("wait until the node has them in use and attached", async () => {
    const { start, report, inUse } = await live({});
    const pod = start("a");
    await waitFor("volumesInUse", () => inUse()?.includes(CSI_IN_USE));
    await waitFor(
      "the wait",
      () => waits(pod) === "Volume has not been added to the list of VolumesInUse in the node's volume status",
    );
    report({ volumesInUse: [CSI_IN_USE] });
    await waitFor("the wait", () => waits(pod) === "Volume not attached according to node status");
    expect(rpcs()).toEqual([]);
    const volumesAttached = [{ name: CSI_IN_USE, devicePath: "" }];
    report({ volumesInUse: [CSI_IN_USE], volumesAttached });
    await pod.until("mounted");
    expect(driver.calls[0]?.request).toMatchObject({ publishContext: { path: "/dev/x" } });
    pod.end();
    await pod.gone();
    expect(inUse()).toEqual([]);
  });

  it("are found again after kill -9: no second mount, nothing left", async () => {
    const first = await live();
    const before = first.start("a");
    await before.until("mounted");
    const mounts = await left();
    first.kill();
    const second = await live();
    expect(second.inUse()).toEqual([CSI_IN_USE]);
    const after = second.start("a");
    await after.until("mounted");
    expect(await left()).toBe(mounts);
    second.kill();
    const third = await live();
    await lastValueFrom(third.volumes.unpublish(podUid("a")), { defaultValue: undefined });
    await third.unstaged();
    expect([await left(), third.inUse()]).toEqual([0, []]);
  });

  it.each<[string, "hang" | { readonly code: number; readonly details: string }]>([
    ["nodeStageVolume", "hang"],
    ["nodePublishVolume", { code: 13, details: "no" }],
  ])("that may be staged are found after kill -9 although %s did not succeed", async (failing, answer) => {
    driver.stop();
    driver = await startCsiDriver(join(place.place, "csi.sock"), {
      fault: ({ rpc }) => (rpc === failing ? answer : undefined),
    });
    const first = await live({});
    const volumesAttached = [{ name: CSI_IN_USE, devicePath: "" }];
    first.report({ volumesInUse: [CSI_IN_USE], volumesAttached });
    first.start("a");
    await waitFor("the call", () => rpcs().includes(failing));
    if (answer !== "hang") await waitFor("the failure", () => first.events.length > 0);
    first.kill();
    const second = await live({});
    expect(second.inUse()).toEqual([CSI_IN_USE]);
    await lastValueFrom(second.volumes.unpublish(podUid("a")), { defaultValue: undefined });
    await second.unstaged();
    expect([await left(), second.inUse()]).toEqual([0, []]);
  });

  it("are published again and again for a driver that wants it, and stay mounted when that fails", async () => {
    driver.stop();
    let publications = 0;
    driver = await startCsiDriver(join(place.place, "csi.sock"), {
      fault: ({ rpc }) => {
        if (rpc === "nodePublishVolume") publications += 1;
        return publications === 2 ? { code: 13, details: "not now" } : undefined;
      },
    });
    const { start, events } = await live({ attachRequired: false, requiresRepublish: true }, 100);
    const pod = start("a");
    await waitFor("the third publication", () => rpcs().filter((rpc) => rpc === "nodePublishVolume").length >= 3);
    expect(rpcs().filter((rpc) => rpc !== "nodePublishVolume")).toEqual(["nodeStageVolume"]);
    expect(events.map(({ message }) => message)).toEqual([
      expect.stringContaining('MountVolume.SetUp failed for volume "pv1" : '),
    ]);
    await pod.until("mounted");
    pod.end();
    await pod.gone();
    expect(await left()).toBe(0);
  });

  it.each([
    ["of a kind that the driver replaces", { awsElasticBlockStore: { volumeID: "vol-1", fsType: "ext4" } }, "true"],
    ["of the driver", { csi: { driver: EBS, volumeHandle: "vol-1" } }, "false"],
  ])("%s are measured with their driver", async (_, source, migrated) => {
    const persistentvolumes = {
      metadata: { name: "pv1" },
      spec: { claimRef: { uid: "c1" }, accessModes: ["ReadWriteOnce"], ...source },
    };
    const life = await startCsiNode({ place, objects: { ...OBJECTS, persistentvolumes }, driver: EBS });
    lives.push(life);
    const pod = life.start("a");
    await pod.until("mounted");
    pod.end();
    await pod.gone();
    const seen = [...life.telemetry.observations.keys()].filter((name) => !name.startsWith("volume_manager"));
    const plugin = `kubernetes.io/csi:${EBS}`;
    const operation = (name: string, isMigrated = migrated) =>
      `storage_operation_duration_seconds{volume_plugin="${plugin}",operation_name="${name}",status="success",migrated="${isMigrated}"}`;
    const call = (name: string, isMigrated: string) =>
      `csi_operations_seconds{driver_name="${EBS}",method_name="/csi.v1.Node/${name}",grpc_status_code="OK",migrated="${isMigrated}"}`;
    expect(seen.toSorted()).toEqual(
      [
        ...[operation("volume_mount"), operation("volume_unmount"), operation("unmount_device", "false")],
        `volume_operation_total_seconds{plugin_name="${plugin}",operation_name="overall_volume_mount"}`,
        ...[call("NodeStageVolume", migrated), call("NodePublishVolume", migrated)],
        // The end of a use names no kind, as upstream.
        ...[call("NodeUnpublishVolume", "false"), call("NodeUnstageVolume", "false")],
      ].toSorted(),
    );
  });

  it("of the pod itself are published alone, where their driver has them", async () => {
    const { start } = await live({ volumeLifecycleModes: ["Ephemeral"], podInfoOnMount: true });
    const pod = start("a", CSI_MOUNT, { csi: { driver: CSI_NAME, volumeAttributes: { size: "1" } } });
    await pod.until("mounted");
    expect(rpcs()).toEqual(["nodePublishVolume"]);
    expect(driver.calls[0]?.request).toMatchObject({
      volumeId: `csi-${sha256("adata")}`,
      volumeContext: { size: "1", "csi.storage.k8s.io/pod.name": "a", "csi.storage.k8s.io/ephemeral": "true" },
    });
    pod.end();
    await pod.gone();
    expect(await left()).toBe(0);
  });
});
