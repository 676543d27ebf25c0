/** Volumes on iSCSI disks with real mounts; a tmpfs stands for the file system of the disk. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { BehaviorSubject, lastValueFrom, type Subscription } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Node } from "../../src/core/api.ts";
import { configObjectsOf } from "../../src/core/configObjects.ts";
import { monotonicMs, podUid, type PodUid } from "../../src/core/ids.ts";
import type { PodCommand } from "../../src/core/pod/podRegistry.ts";
import { NO_VOLUMES, type PodVolumes, volumeStage } from "../../src/core/volume/podVolumes.ts";
import { createKeyedTurns } from "../../src/operators/keyedTurns.ts";
import { createPodMemories } from "../../src/pipelines/podMemories.ts";
import { createPodObjects } from "../../src/pipelines/podObjects.ts";
import { createHeldVolumes } from "../../src/pipelines/volumes/heldVolumes.ts";
import { createVolumes } from "../../src/pipelines/volumes/volumes.ts";
import { createCell } from "../../src/state/cell.ts";
import { createKeyedCell } from "../../src/state/keyedCell.ts";
import { fakeIscsi, type FakeIscsiOptions } from "../support/fakeIscsi.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { containerOf, podOf } from "../support/pods.ts";
import { volumeNodeOf } from "../support/podVolumes.ts";
import { missingForMounts, type PrivateMounts, privateMounts } from "../support/privateMounts.ts";
import { realClock } from "../support/realClock.ts";
import { realFiles, realVolumeFiles } from "../support/realFiles.ts";
import { recordingTelemetry } from "../support/recordingTelemetry.ts";
import { waitFor } from "../support/waitFor.ts";

const IQN = "iqn.2003-01.org.example:disks";
const A = "10.0.0.1:3260";
const IN_USE = `kubernetes.io/iscsi/10.0.0.1:${IQN}:0`;
const ONE: FakeIscsiOptions = { iqn: IQN, portals: { [A]: "/dev/sdy" } };
const LOGOUT = [`-m node -p ${A} -T ${IQN} -I default --logout`, `-m node -p ${A} -T ${IQN} -I default -o delete`];

describe.skipIf(mustSkip("volumes on iSCSI disks", missingForMounts()))("volumes on iSCSI disks", () => {
  let place: PrivateMounts;
  /** Whether mounting a disk dies half-way. */
  let isStuck = false;
  const running: Subscription[] = [];
  beforeEach(() => {
    place = privateMounts();
    isStuck = false;
  });
  afterEach(() => {
    for (const each of running.splice(0)) each.unsubscribe();
    place.close();
  });
  const left = () =>
    readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .filter((line) => line.includes(`${place.place}/`)).length;
  const disksLeft = (): readonly string[] => {
    const at = `${place.place}/plugins/kubernetes.io/iscsi`;
    return existsSync(at) ? readdirSync(at).flatMap((iface) => readdirSync(`${at}/${iface}`)) : [];
  };
  /** Returns the calls that undo something. */
  const undone = (calls: readonly string[]) =>
    calls.filter((call) => call.startsWith("remove") || call.endsWith("--logout") || call.endsWith("-o delete"));

  const live = async (initiator: ReturnType<typeof fakeIscsi>) => {
    const rootDir = place.place;
    const [cell, telemetry] = [createKeyedCell<PodUid, PodVolumes>(), recordingTelemetry()];
    const node = createCell<Node | undefined>({ metadata: { name: "n1" } });
    const inUse = createCell<readonly string[] | undefined>(undefined);
    const heldVolumes = createHeldVolumes(inUse);
    const mounts = {
      ...place.mounts,
      formatAndMount: ({ source, target }: { readonly source: string; readonly target: string }) => {
        if (isStuck) return new BehaviorSubject<void>(undefined);
        return place.mounts.mount({ source, target, fsType: "tmpfs", options: [] });
      },
    };
    const volumeNode = volumeNodeOf({ directories: { rootDir } });
    const iscsi = {
      ...{ port: initiator.port, clock: realClock, api: undefined },
      ...{ turns: createKeyedTurns(), leaving: new Set<string>() },
    };
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
      kinds: {
        ...{ csi: undefined, flex: undefined },
        disks: { port: initiator.disks, node, heldVolumes, isAttachedByController: false, iscsi },
      },
    });
    await lastValueFrom(volumes.load(), { defaultValue: undefined });
    heldVolumes.loaded();
    const events: string[] = [];
    const start = (uid: string, lun = 0) => {
      const pod = podOf({
        ...{ uid, name: uid, namespace: "default" },
        spec: {
          volumes: [{ name: "data", iscsi: { targetPortal: "10.0.0.1", iqn: IQN, lun, iscsiInterface: "default" } }],
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
      };
    };
    const giveBack = (uid: string) => lastValueFrom(volumes.unpublish(podUid(uid)), { defaultValue: undefined });
    return { start, giveBack, events, inUse };
  };

  it("are mounted once for the node, bound for each pod, and logged out after the last", async () => {
    const initiator = fakeIscsi(ONE);
    const { start, inUse } = await live(initiator);
    const [a, b] = [start("a"), start("b")];
    await a.until("mounted");
    await b.until("mounted");
    expect([left(), inUse.value, disksLeft()]).toEqual([3, [IN_USE], [`${A}-${IQN}-lun-0`]]);
    a.end();
    await a.until("unmounted");
    expect([left(), undone(initiator.calls)]).toEqual([2, []]);
    b.end();
    await b.until("unmounted");
    expect([left(), inUse.value, disksLeft(), undone(initiator.calls), initiator.sessions.size]).toEqual([
      ...[0, [], [], ["remove /dev/sdy", ...LOGOUT], 0],
    ]);
  });

  it("keep the session while another disk of the target is in use, of upstream's kubelet too", async () => {
    const initiator = fakeIscsi(ONE);
    const { start } = await live(initiator);
    const pod = start("a");
    await pod.until("mounted");
    const other = `${place.place}/plugins/kubernetes.io/iscsi/volumeDevices/iface-x/10.0.0.7:1-${IQN}-lun-5`;
    await lastValueFrom(realFiles().makeDirectory(other), { defaultValue: undefined });
    pod.end();
    await pod.until("unmounted");
    expect([left(), undone(initiator.calls), initiator.sessions.size]).toEqual([0, ["remove /dev/sdy"], 1]);
  });

  it("say why there is none", async () => {
    const { start, events } = await live(fakeIscsi({ ...ONE, isMissing: true }));
    const pod = start("a");
    await waitFor("the event", () => events.length > 0);
    expect(events[0]).toBe(
      'MountVolume.WaitForAttach failed for volume "data" : cannot run iscsiadm: iscsiadm is not installed on this node',
    );
    pod.kill();
  });

  it("are found again after kill -9, by their mount", async () => {
    const initiator = fakeIscsi(ONE);
    const first = await live(initiator);
    const before = first.start("a");
    await before.until("mounted");
    before.kill();
    const second = await live(initiator);
    expect(second.inUse.value).toEqual([IN_USE]);
    await second.giveBack("a");
    expect([left(), second.inUse.value, disksLeft(), initiator.sessions.size]).toEqual([0, [], [], 0]);
  });

  it("are found again after kill -9 between login and mount", async () => {
    const initiator = fakeIscsi(ONE);
    isStuck = true;
    const before = (await live(initiator)).start("a");
    await waitFor("the login", () => initiator.calls.some((call) => call.startsWith("scan")));
    before.kill();
    isStuck = false;
    const second = await live(initiator);
    expect([second.inUse.value, initiator.sessions.size]).toEqual([[IN_USE], 1]);
    await second.giveBack("a");
    expect([left(), disksLeft(), undone(initiator.calls), initiator.sessions.size]).toEqual([
      ...[0, [], ["remove /dev/sdy", ...LOGOUT], 0],
    ]);
  });
});
