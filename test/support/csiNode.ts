/** A kubelet's volumes with one CSI driver on a real socket, real mounts and a claim of one volume. */
import { join } from "node:path";
import { BehaviorSubject, defer, lastValueFrom, NEVER, type Observable, of, type Subscription } from "rxjs";
import type { Node } from "../../src/core/api.ts";
import { configObjectsOf } from "../../src/core/configObjects.ts";
import type { CsiCapability, CsiDriverFacts, CsiDrivers } from "../../src/core/csi/csiDriverFacts.ts";
import type { KubeletEvent } from "../../src/core/events.ts";
import { monotonicMs, podUid, type PodUid } from "../../src/core/ids.ts";
import type { PodCommand } from "../../src/core/pod/podRegistry.ts";
import { NO_VOLUMES, type PodVolumes, volumeStage } from "../../src/core/volume/podVolumes.ts";
import { createPodMemories } from "../../src/pipelines/podMemories.ts";
import { createPodObjects } from "../../src/pipelines/podObjects.ts";
import { createHeldVolumes } from "../../src/pipelines/volumes/heldVolumes.ts";
import { createVolumes, type VolumesDeps } from "../../src/pipelines/volumes/volumes.ts";
import { createCsiDrivers } from "../../src/sinks/csiDrivers.ts";
import { createCell } from "../../src/state/cell.ts";
import { createKeyedCell } from "../../src/state/keyedCell.ts";
import { containerOf, podOf } from "./pods.ts";
import type { CsiDriver } from "../../src/core/volume/csiVolume.ts";
import type { VolumeNode } from "../../src/core/volume/volumeLayout.ts";
import { volumeNodeOf } from "./podVolumes.ts";
import type { PrivateMounts } from "./privateMounts.ts";
import { realClock } from "./realClock.ts";
import { realFiles, realVolumeFiles } from "./realFiles.ts";
import { recordingTelemetry } from "./recordingTelemetry.ts";
import { waitFor } from "./waitFor.ts";

export const CSI_NAME = "csi.example.com";

type Resource = "persistentvolumeclaims" | "persistentvolumes" | "volumeattachments";
/** Name of the volume with the handle h1 in the status of the Node. */
export const CSI_IN_USE = `kubernetes.io/csi/${CSI_NAME}^h1`;

export interface CsiNodeOptions {
  readonly place: PrivateMounts;
  /** The objects of the API server, as they are at each request; `never`: it does not answer. */
  readonly objects: Readonly<Partial<Record<Resource, object | "never">>>;
  /** Absent: the volume needs no attachment. The controller has attached it. */
  readonly attachedBy?: "controller" | "nobody";
  /** undefined: the driver never registers; default: it can stage. */
  readonly capabilities?: readonly CsiCapability[] | undefined;
  /** Patches of the claim's status. */
  readonly patches?: unknown[];
  /** Carries a patch of the claim's status out; default: it has no effect. */
  readonly patch?: (body: object) => Observable<unknown>;
  /** Default: 60 s. */
  readonly syncPeriodMs?: number;
  /** The CSIDriver, besides whether volumes are attached. */
  readonly spec?: CsiDriver["spec"];
  /** Name of the driver; default: CSI_NAME. */
  readonly driver?: string;
  /** Default: the node reports the volume in use, and attached. */
  readonly status?: NonNullable<Node["status"]>;
  /** Default: the node has no SELinux. */
  readonly selinux?: VolumeNode["selinux"];
}

/** Fields of the container that uses the volume `data`. */
export type VolumeUse = object;

/** A life of the kubelet. */
export interface CsiNode {
  readonly events: readonly KubeletEvent[];
  /** Volumes in use, as the Node has them. */
  readonly inUse: () => readonly string[] | undefined;
  readonly volumes: ReturnType<typeof createVolumes>;
  readonly telemetry: ReturnType<typeof recordingTelemetry>;
  /** Changes the status of the Node. */
  report(status: NonNullable<Node["status"]>): void;
  /** Runs a pod with a container that uses the volume: by default that of the claim. */
  start(uid: string, use?: VolumeUse, source?: object): CsiNodePod;
  /** Resolves when nothing is staged for no pod. */
  unstaged(): Promise<unknown>;
  kill(): void;
}

export interface CsiNodePod {
  readonly state: () => PodVolumes;
  until(stage: ReturnType<typeof volumeStage>): Promise<unknown>;
  end(): void;
  /** Resolves when the pod has no volume any more, and the volumes that it was the last to have are unstaged. */
  gone(): Promise<void>;
}

/** A container that mounts the volume. */
export const CSI_MOUNT = { volumeMounts: [{ name: "data", mountPath: "/data" }] };

const REPORTED: NonNullable<Node["status"]> = {
  volumesInUse: [CSI_IN_USE],
  volumesAttached: [{ name: CSI_IN_USE, devicePath: "" }],
};

/** Starts a life on what the earlier one left. */
export async function startCsiNode(options: CsiNodeOptions): Promise<CsiNode> {
  const { place, objects, attachedBy, patches = [], syncPeriodMs = 60_000, selinux, driver = CSI_NAME } = options;
  const capabilities = "capabilities" in options ? options.capabilities : (["STAGE_UNSTAGE_VOLUME"] as const);
  const rootDir = place.place;
  const [cell, telemetry] = [createKeyedCell<PodUid, PodVolumes>(), recordingTelemetry()];
  const facts: CsiDriverFacts = {
    ...{ name: driver, endpoint: join(rootDir, "csi.sock"), version: [1, 0], vendorVersion: "", nodeId: "n" },
    ...{ maxVolumes: undefined, topology: {}, capabilities: new Set(capabilities) },
  };
  const api = {
    get: (resource: Resource) => defer(() => (objects[resource] === "never" ? NEVER : of(objects[resource]))),
    patch: (resource: Resource, _ref: object, { body }: { readonly body: unknown }) =>
      defer(() => {
        patches.push(body);
        return options.patch?.(body as object) ?? of(objects[resource]);
      }),
  } as unknown as NonNullable<VolumesDeps["claims"]>;
  const directories = { rootDir, podLogsDir: "/unused", containerLogsDir: "/unused" };
  const node = volumeNodeOf({ directories: { rootDir }, csi: { nodeName: "n1" }, selinux });
  const nodeCell = createCell<Node | undefined>({ metadata: { name: "n1" }, status: options.status ?? REPORTED });
  const inUse = createCell<readonly string[] | undefined>(undefined);
  const heldVolumes = createHeldVolumes(inUse);
  const volumes = createVolumes({
    ports: {
      ...{ telemetry, clock: realClock, mounts: place.mounts, files: realFiles() },
      ...{ volumeFiles: realVolumeFiles(), quotas: undefined },
    },
    config: { directories, syncPeriodMs },
    node,
    sources: {
      ...{ objects: createPodObjects(createCell(configObjectsOf([])), undefined), tokens: undefined },
      ...{ trustBundles: undefined, podCertificates: undefined, allocatable: node.allocatable },
    },
    volumes: cell,
    ...{ api, claims: api },
    csiDrivers$: of(
      new Map([
        [driver, { metadata: { name: driver }, spec: { attachRequired: attachedBy !== undefined, ...options.spec } }],
      ]),
    ),
    kinds: {
      flex: undefined,
      csi: {
        ...{ port: createCsiDrivers({ clock: realClock, telemetry }), api, tokens: undefined, nodeName: "n1" },
        drivers: createCell<CsiDrivers>(new Map(capabilities === undefined ? [] : [[driver, facts]])),
        node: nodeCell,
        heldVolumes,
        isAttachedByController: attachedBy !== "nobody",
      },
    },
  });
  await lastValueFrom(volumes.load(), { defaultValue: undefined });
  const events: KubeletEvent[] = [];
  const running: Subscription[] = [volumes.unstaging$.subscribe()];
  const unstaged = () => waitFor("the volumes to be unstaged", () => heldVolumes.kept().length === 0);
  const start = (
    uid: string,
    use: VolumeUse = CSI_MOUNT,
    source: object = { persistentVolumeClaim: { claimName: "c" } },
  ): CsiNodePod => {
    const pod = podOf({
      ...{ uid, name: uid, namespace: "default" },
      spec: {
        volumes: [{ name: "data", ...source }],
        containers: [containerOf(use)],
      },
    });
    const identity = { uid: podUid(uid) } as PodCommand["identity"];
    const commands = new BehaviorSubject<PodCommand>({ phase: "sync", identity, pod });
    const memory = createPodMemories(monotonicMs(0));
    const outputs = volumes.run(podUid(uid), commands, memory).subscribe((output) => {
      if (output.kind === "event") events.push(output.event);
    });
    running.push(outputs);
    const state = () => cell.get(podUid(uid)) ?? NO_VOLUMES;
    const until = (wanted: ReturnType<typeof volumeStage>) =>
      waitFor(`${uid} to be ${wanted}`, () => volumeStage(state()) === wanted);
    return {
      ...{ state, until },
      gone: async () => {
        await until("unmounted");
        await unstaged();
      },
      end: () => commands.next({ phase: "terminated", identity, pod, remove: true }),
    };
  };
  return {
    events,
    inUse: () => inUse.value,
    volumes,
    telemetry,
    report: (status) => nodeCell.set({ metadata: { name: "n1" }, status }),
    ...{ start, unstaged },
    kill: () => running.forEach((each) => each.unsubscribe()),
  };
}
