/** A kubelet's volumes on disks of the network, with real files and mounts; each call of `liveOnDisks` is a kubelet after another. */
import { readFileSync } from "node:fs";
import { BehaviorSubject, lastValueFrom, of, type Subscription } from "rxjs";
import type { Node, Pod } from "../../src/core/api.ts";
import { configObjectsOf } from "../../src/core/configObjects.ts";
import { monotonicMs, podUid, type PodUid } from "../../src/core/ids.ts";
import type { PodCommand } from "../../src/core/pod/podRegistry.ts";
import { NO_VOLUMES, type PodVolumes, volumeStage } from "../../src/core/volume/podVolumes.ts";
import type { VolumeNode } from "../../src/core/volume/volumeLayout.ts";
import { createKeyedTurns } from "../../src/operators/keyedTurns.ts";
import { createPodMemories } from "../../src/pipelines/podMemories.ts";
import { createPodObjects } from "../../src/pipelines/podObjects.ts";
import { createHeldVolumes } from "../../src/pipelines/volumes/heldVolumes.ts";
import { createVolumes, type VolumesDeps } from "../../src/pipelines/volumes/volumes.ts";
import type { HostDisks } from "../../src/ports/hostDisks.ts";
import type { IscsiInitiator } from "../../src/ports/iscsi.ts";
import type { Mounts } from "../../src/ports/mounts.ts";
import { createCell } from "../../src/state/cell.ts";
import { createKeyedCell } from "../../src/state/keyedCell.ts";
import { podOf } from "./pods.ts";
import { volumeNodeOf } from "./podVolumes.ts";
import { realClock } from "./realClock.ts";
import { realFiles, realVolumeFiles } from "./realFiles.ts";
import { recordingTelemetry } from "./recordingTelemetry.ts";
import { waitFor } from "./waitFor.ts";

export interface DiskNodeOptions {
  readonly rootDir: string;
  readonly mounts: Mounts;
  readonly disks: HostDisks;
  readonly initiator?: IscsiInitiator;
  readonly isAttachedByController?: boolean;
  /** A PersistentVolume that every claim has. */
  readonly persistentVolume?: object;
  /** Default: the node has no SELinux. */
  readonly selinux?: VolumeNode["selinux"];
  /** Has the subscriptions, which the test ends. */
  readonly running: Subscription[];
}

/** Returns an API server on which each claim has the volume. */
const claimsOf = (spec: object): VolumesDeps["api"] => ({
  get: ((resource: string) =>
    of(
      resource === "persistentvolumes"
        ? { metadata: { name: "pv1" }, spec: { claimRef: { uid: "c" }, ...spec } }
        : { metadata: { name: "claim", uid: "c" }, spec: { volumeName: "pv1" }, status: { phase: "Bound" } },
    )) as unknown as NonNullable<VolumesDeps["api"]>["get"],
});

/** Starts the volumes of a node, with those that an earlier one has left. */
export async function liveOnDisks(options: DiskNodeOptions) {
  const { rootDir, mounts, disks, initiator, isAttachedByController = false, persistentVolume, running } = options;
  const [cell, telemetry] = [createKeyedCell<PodUid, PodVolumes>(), recordingTelemetry()];
  const node = createCell<Node | undefined>({ metadata: { name: "n1" } });
  const inUse = createCell<readonly string[] | undefined>(undefined);
  const heldVolumes = createHeldVolumes(inUse);
  const iscsi = initiator && {
    ...{ port: initiator, clock: realClock, api: undefined },
    ...{ turns: createKeyedTurns(), leaving: new Set<string>() },
  };
  const volumeNode = volumeNodeOf({ directories: { rootDir }, selinux: options.selinux });
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
    api: persistentVolume && claimsOf(persistentVolume),
    csiDrivers$: undefined,
    kinds: {
      ...{ csi: undefined, flex: undefined },
      disks: { port: disks, node, heldVolumes, isAttachedByController, iscsi },
    },
  });
  await lastValueFrom(volumes.load(), { defaultValue: undefined });
  heldVolumes.loaded();
  running.push(volumes.unstaging$.subscribe());
  const unstaged = () => waitFor("the disks to be unstaged", () => heldVolumes.kept().length === 0);
  const events: string[] = [];
  const start = (uid: string, spec: Pod["spec"]) => {
    const pod = podOf({ uid, name: uid, namespace: "default", spec });
    const identity = { uid: podUid(uid) } as PodCommand["identity"];
    const commands = new BehaviorSubject<PodCommand>({ phase: "sync", identity, pod });
    const subscription = volumes.run(podUid(uid), commands, createPodMemories(monotonicMs(0))).subscribe((output) => {
      if (output.kind === "event") events.push(output.event.message);
    });
    running.push(subscription);
    const own = () => cell.get(podUid(uid)) ?? NO_VOLUMES;
    const until = (wanted: string) => waitFor(wanted, () => volumeStage(own()) === wanted);
    return {
      kill: () => subscription.unsubscribe(),
      until,
      gone: async () => {
        await until("unmounted");
        await unstaged();
      },
      end: () => commands.next({ phase: "terminated", identity, pod, remove: true }),
      waits: () => [...own().actual.values()][0]?.waitsFor,
    };
  };
  const giveBack = async (uid: string) => {
    const unpublished$ = volumes.unpublish(podUid(uid));
    // Tried again, like housekeeping: a program that looks at all loop devices may have this one open.
    await waitFor("the volumes of the pod to be given back", () =>
      lastValueFrom(unpublished$, { defaultValue: undefined }).then(() => true),
    );
    await unstaged();
  };
  return { unstaged, unstage: () => lastValueFrom(volumes.unstage()), start, giveBack, events, inUse, node };
}

/** Counts the mounts below a directory. */
export const mountsBelow = (place: string): number =>
  readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .filter((line) => line.includes(`${place}/`)).length;
