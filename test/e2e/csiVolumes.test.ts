/** CSI volumes over a real socket with real mounts: staged once, shared by pods, attached first, found again after kill -9. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { BehaviorSubject, lastValueFrom, of, type Subscription } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Node } from "../../src/core/api.ts";
import { configObjectsOf } from "../../src/core/configObjects.ts";
import type { CsiDriverFacts, CsiDrivers } from "../../src/core/csi/csiDriverFacts.ts";
import { monotonicMs, podUid, type PodUid } from "../../src/core/ids.ts";
import type { PodCommand } from "../../src/core/pod/podRegistry.ts";
import { sha256 } from "../../src/core/sha256.ts";
import type { CsiDriver } from "../../src/core/volume/csiVolume.ts";
import { NO_VOLUMES, type PodVolumes, volumeStage } from "../../src/core/volume/podVolumes.ts";
import { createPodMemories } from "../../src/pipelines/podMemories.ts";
import { createPodObjects } from "../../src/pipelines/podObjects.ts";
import { createHeldVolumes } from "../../src/pipelines/volumes/heldVolumes.ts";
import { createVolumes, type VolumesDeps } from "../../src/pipelines/volumes/volumes.ts";
import { createCsiDrivers } from "../../src/sinks/csiDrivers.ts";
import { createCell } from "../../src/state/cell.ts";
import { createKeyedCell } from "../../src/state/keyedCell.ts";
import { startCsiDriver, type TestCsiDriver } from "../support/csiDriver.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { containerOf, podOf } from "../support/pods.ts";
import { volumeNodeOf } from "../support/podVolumes.ts";
import { missingForMounts, type PrivateMounts, privateMounts } from "../support/privateMounts.ts";
import { realClock } from "../support/realClock.ts";
import { realFiles, realVolumeFiles } from "../support/realFiles.ts";
import { recordingTelemetry } from "../support/recordingTelemetry.ts";
import { waitFor } from "../support/waitFor.ts";

const NAME = "csi.example.com";
const IN_USE = `kubernetes.io/csi/${NAME}^h1`;

const podWith = (uid: string, volume: object) =>
  podOf({
    uid,
    name: uid,
    namespace: "default",
    spec: {
      volumes: [{ name: "data", ...volume }],
      containers: [containerOf({ volumeMounts: [{ name: "data", mountPath: "/data" }] })],
    },
  });

describe.skipIf(mustSkip("CSI volumes", missingForMounts()))("CSI volumes", () => {
  let place: PrivateMounts;
  let driver: TestCsiDriver;
  const running: Subscription[] = [];
  beforeEach(async () => {
    place = privateMounts();
    driver = await startCsiDriver(join(place.place, "csi.sock"));
  });
  afterEach(async () => {
    for (const each of running.splice(0)) each.unsubscribe();
    driver.stop();
    await driver.release();
    place.close();
  });

  /** A life of the kubelet. */
  const live = async (spec: CsiDriver["spec"] = { attachRequired: false }, syncPeriodMs = 60_000) => {
    const rootDir = place.place;
    const [cell, telemetry] = [createKeyedCell<PodUid, PodVolumes>(), recordingTelemetry()];
    const node = createCell<Node | undefined>({ metadata: { name: "n1" } });
    const inUse = createCell<readonly string[] | undefined>(undefined);
    const facts: CsiDriverFacts = {
      ...{ name: NAME, endpoint: join(rootDir, "csi.sock"), version: [1, 0], vendorVersion: "", nodeId: "n" },
      ...{ maxVolumes: undefined, topology: {}, capabilities: new Set(["STAGE_UNSTAGE_VOLUME"] as const) },
    };
    const drivers = createCell<CsiDrivers>(new Map([[NAME, facts]]));
    const objects: Record<string, object> = {
      persistentvolumeclaims: { metadata: { uid: "c1" }, spec: { volumeName: "pv1" }, status: { phase: "Bound" } },
      persistentvolumes: {
        metadata: { name: "pv1" },
        spec: { claimRef: { uid: "c1" }, accessModes: ["ReadWriteOnce"], csi: { driver: NAME, volumeHandle: "h1" } },
      },
      volumeattachments: { status: { attached: true, attachmentMetadata: { path: "/dev/x" } } },
    };
    const api = { get: (resource: string) => of(objects[resource]) } as unknown as NonNullable<VolumesDeps["api"]>;
    const directories = { rootDir, podLogsDir: "/unused", containerLogsDir: "/unused" };
    const volumeNode = volumeNodeOf({ directories: { rootDir }, csi: { nodeName: "n1" } });
    const volumes = createVolumes({
      ports: {
        ...{ telemetry, clock: realClock, mounts: place.mounts, files: realFiles() },
        ...{ volumeFiles: realVolumeFiles(), quotas: undefined },
      },
      config: { directories, syncPeriodMs },
      node: volumeNode,
      sources: {
        ...{ objects: createPodObjects(createCell(configObjectsOf([])), undefined), tokens: undefined },
        ...{ trustBundles: undefined, podCertificates: undefined, allocatable: volumeNode.allocatable },
      },
      volumes: cell,
      api,
      csiDrivers$: of(new Map([[NAME, { metadata: { name: NAME }, spec }]])),
      kinds: {
        flex: undefined,
        csi: {
          ...{ port: createCsiDrivers({ clock: realClock, telemetry }), drivers, node, api, tokens: undefined },
          ...{ nodeName: "n1", isAttachedByController: true, heldVolumes: createHeldVolumes(inUse) },
        },
      },
    });
    await lastValueFrom(volumes.load(), { defaultValue: undefined });
    const events: string[] = [];
    const start = (uid: string, volume: object = { persistentVolumeClaim: { claimName: "c" } }) => {
      const pod = podWith(uid, volume);
      const identity = { uid: podUid(uid) } as PodCommand["identity"];
      const commands = new BehaviorSubject<PodCommand>({ phase: "sync", identity, pod });
      const subscription = volumes.run(podUid(uid), commands, createPodMemories(monotonicMs(0))).subscribe((output) => {
        if (output.kind === "event") events.push(output.event.message);
      });
      running.push(subscription);
      const stage = () => volumeStage(cell.get(podUid(uid)) ?? NO_VOLUMES);
      return {
        kill: () => subscription.unsubscribe(),
        until: (wanted: string) => waitFor(wanted, () => stage() === wanted),
        end: () => commands.next({ phase: "terminated", identity, pod, remove: true }),
        waits: () => [...(cell.get(podUid(uid)) ?? NO_VOLUMES).actual.values()][0]?.waitsFor,
      };
    };
    return { start, node, inUse, volumes, events };
  };
  const rpcs = () => driver.calls.map(({ rpc }) => rpc);
  const left = async () =>
    (await readFile("/proc/self/mountinfo", "utf8")).split("\n").filter((line) => line.includes(`${place.place}/`))
      .length;

  it("are staged once, published for each pod, and unstaged after the last", async () => {
    const { start, inUse } = await live();
    const [a, b] = [start("a"), start("b")];
    await a.until("mounted");
    await b.until("mounted");
    expect([rpcs(), inUse.value]).toEqual([["nodeStageVolume", "nodePublishVolume", "nodePublishVolume"], []]);
    const stageDir = join(place.place, "plugins/kubernetes.io/csi", NAME, sha256("h1"));
    expect(driver.calls[0]?.request).toMatchObject({ volumeId: "h1", stagingTargetPath: `${stageDir}/globalmount` });
    const podDir = join(place.place, "pods/a/volumes/kubernetes.io~csi/pv1");
    expect(driver.calls[1]?.request).toMatchObject({ targetPath: `${podDir}/mount` });
    expect(await readFile(`${podDir}/vol_data.json`, "utf8")).toBe(
      `{"attachmentID":"csi-${sha256(`h1${NAME}n1`)}","driverName":"${NAME}","nodeName":"n1","specVolID":"pv1","volumeHandle":"h1","volumeLifecycleMode":"Persistent"}\n`,
    );
    a.end();
    await a.until("unmounted");
    expect(rpcs().slice(3)).toEqual(["nodeUnpublishVolume"]);
    b.end();
    await b.until("unmounted");
    expect(rpcs().slice(4)).toEqual(["nodeUnpublishVolume", "nodeUnstageVolume"]);
    expect(await left()).toBe(0);
  });

  it("wait until the node has them in use and attached", async () => {
    const { start, node, inUse } = await live({});
    const pod = start("a");
    await waitFor("volumesInUse", () => inUse.value?.includes(IN_USE));
    await waitFor(
      "the wait",
      () => pod.waits() === "Volume has not been added to the list of VolumesInUse in the node's volume status",
    );
    node.set({ metadata: { name: "n1" }, status: { volumesInUse: [IN_USE] } });
    await waitFor("the wait", () => pod.waits() === "Volume not attached according to node status");
    expect(rpcs()).toEqual([]);
    const volumesAttached = [{ name: IN_USE, devicePath: "" }];
    node.set({ metadata: { name: "n1" }, status: { volumesInUse: [IN_USE], volumesAttached } });
    await pod.until("mounted");
    expect(driver.calls[0]?.request).toMatchObject({ publishContext: { path: "/dev/x" } });
    pod.end();
    await pod.until("unmounted");
    expect(inUse.value).toEqual([]);
  });

  it("are found again after kill -9: no second mount, nothing left", async () => {
    const first = await live();
    const before = first.start("a");
    await before.until("mounted");
    const mounts = await left();
    before.kill();
    const second = await live();
    expect(second.inUse.value).toEqual([IN_USE]);
    const after = second.start("a");
    await after.until("mounted");
    expect(await left()).toBe(mounts);
    after.kill();
    const third = await live();
    await lastValueFrom(third.volumes.unpublish(podUid("a")), { defaultValue: undefined });
    expect([await left(), third.inUse.value]).toEqual([0, []]);
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
    const volumesAttached = [{ name: IN_USE, devicePath: "" }];
    first.node.set({ metadata: { name: "n1" }, status: { volumesInUse: [IN_USE], volumesAttached } });
    const pod = first.start("a");
    await waitFor("the call", () => rpcs().includes(failing));
    if (answer !== "hang") await waitFor("the failure", () => first.events.length > 0);
    pod.kill();
    const second = await live({});
    expect(second.inUse.value).toEqual([IN_USE]);
    await lastValueFrom(second.volumes.unpublish(podUid("a")), { defaultValue: undefined });
    expect([await left(), second.inUse.value]).toEqual([0, []]);
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
    expect(events).toEqual([expect.stringContaining('MountVolume.SetUp failed for volume "pv1" : ')]);
    await pod.until("mounted");
    pod.end();
    await pod.until("unmounted");
    expect(await left()).toBe(0);
  });

  it("of the pod itself are published alone, where their driver has them", async () => {
    const { start } = await live({ volumeLifecycleModes: ["Ephemeral"], podInfoOnMount: true });
    const pod = start("a", { csi: { driver: NAME, volumeAttributes: { size: "1" } } });
    await pod.until("mounted");
    expect(rpcs()).toEqual(["nodePublishVolume"]);
    expect(driver.calls[0]?.request).toMatchObject({
      volumeId: `csi-${sha256("adata")}`,
      volumeContext: { size: "1", "csi.storage.k8s.io/pod.name": "a", "csi.storage.k8s.io/ephemeral": "true" },
    });
    pod.end();
    await pod.until("unmounted");
    expect(await left()).toBe(0);
  });
});
