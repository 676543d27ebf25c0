/** A kubelet's volumes with a flexVolume driver, a shell script, and real mounts. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BehaviorSubject, lastValueFrom, type Subscription } from "rxjs";
import type { Node } from "../../src/core/api.ts";
import { configObjectsOf } from "../../src/core/configObjects.ts";
import { type FlexDriverMap, NO_FLEX_DRIVERS } from "../../src/core/flex/flexAnswer.ts";
import { monotonicMs, podUid, type PodUid } from "../../src/core/ids.ts";
import type { PodCommand } from "../../src/core/pod/podRegistry.ts";
import { NO_VOLUMES, type PodVolumes, volumeStage } from "../../src/core/volume/podVolumes.ts";
import { probeFlexDrivers } from "../../src/pipelines/plugins/probeFlexDrivers.ts";
import { createPodMemories } from "../../src/pipelines/podMemories.ts";
import { createPodObjects } from "../../src/pipelines/podObjects.ts";
import { createHeldVolumes } from "../../src/pipelines/volumes/heldVolumes.ts";
import { createVolumes, type VolumesDeps } from "../../src/pipelines/volumes/volumes.ts";
import { createFlexCalls } from "../../src/sinks/flexDrivers.ts";
import { flexDriverFiles } from "../../src/sources/flexDriverFiles.ts";
import { createCell } from "../../src/state/cell.ts";
import { createKeyedCell } from "../../src/state/keyedCell.ts";
import { fixedRng } from "./fixedRng.ts";
import { containerOf, podOf } from "./pods.ts";
import { volumeNodeOf } from "./podVolumes.ts";
import type { PrivateMounts } from "./privateMounts.ts";
import { realClock } from "./realClock.ts";
import { realFiles, realVolumeFiles } from "./realFiles.ts";
import { recordingTelemetry } from "./recordingTelemetry.ts";
import { waitFor } from "./waitFor.ts";

/** Answers of a driver to a call. */
export const FLEX_SUCCESS = `echo '{"status":"Success"}'`;
export const FLEX_UNKNOWN = `echo '{"status":"Not supported"}'; exit 1`;

/** Directory of the drivers. */
export const flexPlugins = ({ place }: PrivateMounts): string => join(place, "exec");

/** Installs the driver `acme/disk`, whose calls are the cases of a shell script. */
export function installFlex(mounts: PrivateMounts, cases: string): void {
  const directory = join(flexPlugins(mounts), "acme~disk");
  mkdirSync(directory, { recursive: true });
  const log = join(mounts.place, "calls");
  writeFileSync(join(directory, "disk"), `#!/bin/sh\necho "$*" >> ${log}\ncase "$1" in\n${cases}\nesac\n`);
  chmodSync(join(directory, "disk"), 0o755);
}

/** Returns the calls of the driver without their options. */
export const flexCalls = ({ place }: PrivateMounts): readonly string[] =>
  readFileSync(join(place, "calls"), "utf8")
    .trim()
    .split("\n")
    .map((line) => line.replace(/ \{.*\}/, " OPTIONS").replaceAll(`${place}/`, ""));

export interface FlexNodeOptions {
  readonly mounts: PrivateMounts;
  /** Has the subscriptions, which the test ends. */
  readonly running: Subscription[];
  readonly isAttachedByController?: boolean;
  /** Has the claim of the pods; default: the volume is in the pods themselves. */
  readonly api?: VolumesDeps["claims"];
  /** Default: 60 s. */
  readonly syncPeriodMs?: number;
}

/** Starts a life of the kubelet on what the earlier one left. */
export async function liveWithFlex(options: FlexNodeOptions) {
  const { mounts: place, running, isAttachedByController = false, api, syncPeriodMs = 60_000 } = options;
  const plugins = flexPlugins(place);
  const rootDir = place.place;
  const [cell, telemetry] = [createKeyedCell<PodUid, PodVolumes>(), recordingTelemetry()];
  const node = createCell<Node | undefined>({ metadata: { name: "n1" } });
  const inUse = createCell<readonly string[] | undefined>(undefined);
  const drivers = createCell<FlexDriverMap>(NO_FLEX_DRIVERS);
  const port = { ...flexDriverFiles(plugins), ...createFlexCalls(plugins, realClock) };
  const ports = { clock: realClock, rng: fixedRng(), telemetry, flexDrivers: port };
  running.push(probeFlexDrivers(ports, drivers).subscribe());
  const volumeNode = volumeNodeOf({ directories: { rootDir } });
  const heldVolumes = createHeldVolumes(inUse);
  const volumes = createVolumes({
    ports: {
      ...{ telemetry, clock: realClock, mounts: place.mounts, files: realFiles() },
      ...{ volumeFiles: realVolumeFiles(), quotas: undefined },
    },
    config: { directories: { rootDir, podLogsDir: "/unused", containerLogsDir: "/unused" }, syncPeriodMs },
    node: volumeNode,
    sources: {
      ...{ objects: createPodObjects(createCell(configObjectsOf([])), undefined), tokens: undefined },
      ...{ trustBundles: undefined, podCertificates: undefined, allocatable: volumeNode.allocatable },
    },
    volumes: cell,
    ...{ api, claims: api },
    csiDrivers$: undefined,
    kinds: {
      csi: undefined,
      flex: { port, drivers, node, api: undefined, nodeName: "n1", isAttachedByController, heldVolumes },
    },
  });
  await lastValueFrom(volumes.load(), { defaultValue: undefined });
  heldVolumes.loaded();
  running.push(volumes.unstaging$.subscribe());
  const unstaged = () => waitFor("the volumes to be unstaged", () => heldVolumes.kept().length === 0);
  const events: string[] = [];
  const start = (uid: string) => {
    const pod = podOf({
      ...{ uid, name: uid, namespace: "default" },
      spec: {
        volumes: [
          api === undefined
            ? { name: "data", flexVolume: { driver: "acme/disk" } }
            : { name: "data", persistentVolumeClaim: { claimName: "c" } },
        ],
        containers: [containerOf({ volumeMounts: [{ name: "data", mountPath: "/data" }] })],
      },
    });
    const identity = { uid: podUid(uid) } as PodCommand["identity"];
    const commands = new BehaviorSubject<PodCommand>({ phase: "sync", identity, pod });
    const subscription = volumes.run(podUid(uid), commands, createPodMemories(monotonicMs(0))).subscribe((output) => {
      if (output.kind === "event") events.push(output.event.message);
    });
    running.push(subscription);
    const state = () => cell.get(podUid(uid)) ?? NO_VOLUMES;
    const until = (wanted: string) => waitFor(wanted, () => volumeStage(state()) === wanted);
    return {
      kill: () => subscription.unsubscribe(),
      ...{ state, until },
      gone: async () => {
        await until("unmounted");
        await unstaged();
      },
      end: () => commands.next({ phase: "terminated", identity, pod, remove: true }),
      waits: () => [...state().actual.values()][0]?.waitsFor,
    };
  };
  return { ...{ start, volumes, unstaged }, ...{ events, node, inUse, drivers } };
}
