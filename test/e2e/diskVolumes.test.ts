/** Volumes on disks of the network with real mounts; a tmpfs stands for the file system of the disk. */
import { readFileSync } from "node:fs";
import { BehaviorSubject, EMPTY, lastValueFrom, of, type Subscription } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Node } from "../../src/core/api.ts";
import { configObjectsOf } from "../../src/core/configObjects.ts";
import { monotonicMs, podUid, type PodUid } from "../../src/core/ids.ts";
import type { PodCommand } from "../../src/core/pod/podRegistry.ts";
import { NO_VOLUMES, type PodVolumes, volumeStage } from "../../src/core/volume/podVolumes.ts";
import { createPodMemories } from "../../src/pipelines/podMemories.ts";
import { createPodObjects } from "../../src/pipelines/podObjects.ts";
import { createHeldVolumes } from "../../src/pipelines/volumes/heldVolumes.ts";
import { createVolumes } from "../../src/pipelines/volumes/volumes.ts";
import type { HostDisks } from "../../src/ports/hostDisks.ts";
import { createCell } from "../../src/state/cell.ts";
import { createKeyedCell } from "../../src/state/keyedCell.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { containerOf, podOf } from "../support/pods.ts";
import { volumeNodeOf } from "../support/podVolumes.ts";
import { missingForMounts, type PrivateMounts, privateMounts } from "../support/privateMounts.ts";
import { realClock } from "../support/realClock.ts";
import { realFiles, realVolumeFiles } from "../support/realFiles.ts";
import { recordingTelemetry } from "../support/recordingTelemetry.ts";
import { waitFor } from "../support/waitFor.ts";

const IN_USE = "kubernetes.io/fc/[5006]:0";

describe.skipIf(mustSkip("volumes on disks", missingForMounts()))("volumes on disks of the network", () => {
  let place: PrivateMounts;
  let removed: string[] = [];
  let links: readonly string[] = [];
  const running: Subscription[] = [];
  beforeEach(() => {
    place = privateMounts();
    removed = [];
    links = ["fc-0x5006-lun-0"];
  });
  afterEach(() => {
    for (const each of running.splice(0)) each.unsubscribe();
    place.close();
  });
  const left = () =>
    readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .filter((line) => line.includes(`${place.place}/`)).length;

  const live = async (isAttachedByController = false) => {
    const rootDir = place.place;
    const [cell, telemetry] = [createKeyedCell<PodUid, PodVolumes>(), recordingTelemetry()];
    const node = createCell<Node | undefined>({ metadata: { name: "n1" } });
    const inUse = createCell<readonly string[] | undefined>(undefined);
    const heldVolumes = createHeldVolumes(inUse);
    const port: HostDisks = {
      links: () => of(links),
      deviceOf: (path) => of(path.startsWith("/dev/disk") ? "/dev/sdz" : path),
      multipathOf: () => of(undefined),
      membersOf: () => of([]),
      rescan: () => EMPTY,
      flush: () => EMPTY,
      removeMultipath: () => EMPTY,
      remove: (device) => {
        removed.push(device);
        return EMPTY;
      },
    };
    const mounts = {
      ...place.mounts,
      formatAndMount: ({ source, target }: { readonly source: string; readonly target: string }) =>
        place.mounts.mount({ source, target, fsType: "tmpfs", options: [] }),
    };
    const volumeNode = volumeNodeOf({ directories: { rootDir } });
    const volumes = createVolumes({
      ports: {
        ...{ telemetry, clock: realClock, mounts, files: realFiles() },
        ...{ volumeFiles: realVolumeFiles(), quotas: undefined },
      },
      config: { directories: { rootDir, podLogsDir: "/unused", containerLogsDir: "/unused" }, syncPeriodMs: 60_000 },
      node: volumeNode,
      sources: {
        ...{ objects: createPodObjects(createCell(configObjectsOf([])), undefined), tokens: undefined },
        ...{ trustBundles: undefined, podCertificates: undefined, allocatable: volumeNode.allocatable },
      },
      volumes: cell,
      api: undefined,
      csiDrivers$: undefined,
      kinds: { csi: undefined, flex: undefined, disks: { port, node, heldVolumes, isAttachedByController } },
    });
    await lastValueFrom(volumes.load(), { defaultValue: undefined });
    heldVolumes.loaded();
    const events: string[] = [];
    const start = (uid: string) => {
      const pod = podOf({
        ...{ uid, name: uid, namespace: "default" },
        spec: {
          volumes: [{ name: "data", fc: { targetWWNs: ["5006"], lun: 0 } }],
          containers: [containerOf({ volumeMounts: [{ name: "data", mountPath: "/data" }] })],
        },
      });
      const identity = { uid: podUid(uid) } as PodCommand["identity"];
      const commands = new BehaviorSubject<PodCommand>({ phase: "sync", identity, pod });
      const subscription = volumes.run(podUid(uid), commands, createPodMemories(monotonicMs(0))).subscribe((output) => {
        if (output.kind === "event") events.push(output.event.message);
      });
      running.push(subscription);
      return {
        kill: () => subscription.unsubscribe(),
        until: (wanted: string) => waitFor(wanted, () => volumeStage(cell.get(podUid(uid)) ?? NO_VOLUMES) === wanted),
        end: () => commands.next({ phase: "terminated", identity, pod, remove: true }),
        waits: () => [...(cell.get(podUid(uid)) ?? NO_VOLUMES).actual.values()][0]?.waitsFor,
      };
    };
    return { start, volumes, events, node, inUse };
  };

  it("are mounted once for the node, bound for each pod, and removed after the last", async () => {
    const { start, inUse } = await live();
    const [a, b] = [start("a"), start("b")];
    await a.until("mounted");
    await b.until("mounted");
    expect([left(), inUse.value, removed]).toEqual([3, [IN_USE], []]);
    a.end();
    await a.until("unmounted");
    expect([left(), removed]).toEqual([2, []]);
    b.end();
    await b.until("unmounted");
    expect([left(), inUse.value, removed]).toEqual([0, [], ["/dev/sdz"]]);
  });

  it("report a disk that does not exist, and find it later", async () => {
    links = [];
    const { start, events } = await live();
    const pod = start("a");
    await waitFor("the event", () => events.length > 0);
    expect(events[0]).toBe('MountVolume.WaitForAttach failed for volume "data" : no fc disk found');
    links = ["pci-0000:05:00.0-fc-0x5006-lun-0"];
    await pod.until("mounted");
    pod.end();
    await pod.until("unmounted");
    expect(left()).toBe(0);
  });

  it("wait until the controller has attached them, and are found again after kill -9", async () => {
    const first = await live(true);
    const before = first.start("a");
    await waitFor("the wait", () => before.waits() !== undefined);
    expect([left(), first.inUse.value]).toEqual([0, [IN_USE]]);
    const volumesAttached = [{ name: IN_USE, devicePath: "" }];
    first.node.set({ metadata: { name: "n1" }, status: { volumesInUse: [IN_USE], volumesAttached } });
    await before.until("mounted");
    before.kill();
    const second = await live(true);
    expect(second.inUse.value).toEqual([IN_USE]);
    await lastValueFrom(second.volumes.unpublish(podUid("a")), { defaultValue: undefined });
    expect([left(), second.inUse.value, removed]).toEqual([0, [], ["/dev/sdz"]]);
  });
});
