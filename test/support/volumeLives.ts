/** Lives of a kubelet that has one pod with one volume, each on what the one before left on the machine. */
import {
  BehaviorSubject,
  concat,
  defer,
  filter,
  ignoreElements,
  lastValueFrom,
  map,
  NEVER,
  type Observable,
  of,
  race,
  ReplaySubject,
  take,
  tap,
} from "rxjs";
import { configObjectsOf } from "../../src/core/configObjects.ts";
import type { Node, Pod } from "../../src/core/api.ts";
import { subPathBinds } from "../../src/core/container/subPaths.ts";
import type { CsiDriverFacts, CsiDrivers } from "../../src/core/csi/csiDriverFacts.ts";
import { monotonicMs, podUid, type PodUid } from "../../src/core/ids.ts";
import { podDir } from "../../src/core/paths.ts";
import type { PodCommand } from "../../src/core/pod/podRegistry.ts";
import { mountedLayouts, NO_VOLUMES, type PodVolumes, volumeStage } from "../../src/core/volume/podVolumes.ts";
import { createPodMemories } from "../../src/pipelines/podMemories.ts";
import { createPodObjects } from "../../src/pipelines/podObjects.ts";
import { createHeldVolumes } from "../../src/pipelines/volumes/heldVolumes.ts";
import { createVolumes, type Volumes, type VolumesDeps } from "../../src/pipelines/volumes/volumes.ts";
import { removeRarelyMounted, removeUnmounted, unmountBelow } from "../../src/pipelines/volumes/removeUnmounted.ts";
import { inSequence } from "../../src/operators/inSequence.ts";
import type { CsiClient } from "../../src/ports/csiDrivers.ts";
import { createCell } from "../../src/state/cell.ts";
import { createKeyedCell, type KeyedCell } from "../../src/state/keyedCell.ts";
import { type Failing, type Failpoint, failingPorts, type MachinePorts } from "./failpoints.ts";
import type { MountingCalls } from "./mountingCsiDriver.ts";
import { realClock } from "./realClock.ts";
import { recordingTelemetry } from "./recordingTelemetry.ts";
import { volumeNodeOf } from "./podVolumes.ts";
import { waitFor } from "./waitFor.ts";

const UID = podUid("uid-1");
const NODE_NAME = "n1";

export interface VolumeLivesOptions {
  readonly machine: MachinePorts;
  readonly rootDir: string;
  readonly pod: Pod;
  /** ConfigMaps and Secrets there are. */
  readonly objects: Parameters<typeof configObjectsOf>[0];
  readonly api: VolumesDeps["api"];
  /** The driver of the pod's volume, if it is one of a CSI driver. */
  readonly driver?: CsiDriverOfLives | undefined;
  /** Called once all is mounted, the parts of the volume as well. */
  whenMounted(): Promise<void>;
}

/** A registered CSI driver, which outlives each kubelet. */
export interface CsiDriverOfLives {
  readonly facts: CsiDriverFacts;
  readonly calls: MountingCalls;
}

/** When a life ends by force: `mounted` is when nothing is to be done. */
export type Death = Failpoint | "mounted";

/** Outcome of one run. */
export interface Life {
  readonly effects: readonly string[];
  /** Events of the pod, as `REASON MESSAGE`. */
  readonly events: readonly string[];
  readonly end: "killed" | "done";
}

/** Mounts the pod's volume and takes it away again, unless it dies before. */
export async function liveOnce(options: VolumeLivesOptions, death?: Death): Promise<Life> {
  const killed = new ReplaySubject<"killed">(1);
  const { ports, effects, guardDriver } = failingPorts(options.machine, death === "mounted" ? undefined : death, () =>
    killed.next("killed"),
  );
  const cell = createKeyedCell<PodUid, PodVolumes>();
  const volumes = createVolumes(depsOf(options, ports, cell, guardDriver));
  const { pod, rootDir } = options;
  const identity = { uid: UID } as PodCommand["identity"];
  const commands = new BehaviorSubject<PodCommand>({ phase: "sync", identity, pod });
  const stage = (wanted: ReturnType<typeof volumeStage>) =>
    cell.changes$(UID).pipe(
      filter((known) => volumeStage(known) === wanted),
      take(1),
    );
  const story$ = concat(
    stage("mounted"),
    defer(() => bindParts(options, ports, cell.get(UID) ?? NO_VOLUMES)),
    defer(() => options.whenMounted()),
    defer(() => {
      if (death === "mounted") {
        killed.next("killed");
        return NEVER;
      }
      commands.next({ phase: "terminated", identity, pod, remove: true });
      return stage("unmounted");
    }),
    defer(() => removeRarelyMounted({ ...ports, telemetry: recordingTelemetry() }, podDir({ rootDir }, UID))),
    defer(() => unstageAll(volumes)),
  ).pipe(ignoreElements());
  await lastValueFrom(volumes.load(), { defaultValue: undefined });
  const events: string[] = [];
  const running = volumes.run(UID, commands, createPodMemories(monotonicMs(0))).subscribe((output) => {
    if (output.kind === "event") events.push(`${output.event.reason} ${output.event.message}`);
  });
  try {
    const end = await lastValueFrom(race(killed.pipe(take(1)), story$), { defaultValue: "done" as const });
    return { effects, events, end };
  } finally {
    running.unsubscribe();
  }
}

/** A life that finds its pod gone: what housekeeping does. */
export async function sweep(options: VolumeLivesOptions): Promise<void> {
  const { machine, rootDir } = options;
  const ports = { ...machine, telemetry: recordingTelemetry() };
  const volumes = createVolumes(depsOf(options, machine, createKeyedCell()));
  const path = podDir({ rootDir }, UID);
  await lastValueFrom(volumes.load(), { defaultValue: undefined });
  const swept$ = concat(
    volumes.unpublish(UID),
    unmountBelow(ports, path),
    defer(() => unstageAll(volumes)),
    volumes.release(UID),
    removeUnmounted(ports, path),
  );
  // Tried again, like housekeeping: a thread of the killed kubelet may still have a file of the volume open.
  await waitFor("the volumes to be swept", () => lastValueFrom(swept$, { defaultValue: undefined }).then(() => true));
}

/** A life without pods, which unstages the volumes that an earlier one staged, unless it dies before. */
export async function unstageOnce(options: VolumeLivesOptions, death?: Failpoint): Promise<Life> {
  const killed = new ReplaySubject<"killed">(1);
  const { ports, effects, guardDriver } = failingPorts(options.machine, death, () => killed.next("killed"));
  const volumes = createVolumes(depsOf(options, ports, createKeyedCell(), guardDriver));
  await lastValueFrom(volumes.load(), { defaultValue: undefined });
  const done$ = unstageAll(volumes).pipe(map((): "done" => "done"));
  return { effects, events: [], end: await lastValueFrom(race(killed.pipe(take(1)), done$)) };
}

const unstageAll = (volumes: Pick<Volumes, "unstage">): Observable<unknown> =>
  volumes.unstage().pipe(
    tap((left) => {
      if (left.length > 0) throw new Error(`stays staged: ${JSON.stringify(left)}`);
    }),
  );

function depsOf(
  { rootDir, objects, api, driver }: VolumeLivesOptions,
  ports: MachinePorts,
  volumes: KeyedCell<PodUid, PodVolumes>,
  guardDriver: Failing["guardDriver"] = (calls) => calls,
): VolumesDeps {
  const csi = { nodeName: NODE_NAME, isAttachedByController: true };
  const node = volumeNodeOf({ directories: { rootDir }, ...(driver === undefined ? {} : { csi }) });
  const directories = { rootDir, podLogsDir: "/unused", containerLogsDir: "/unused" };
  const known = createPodObjects(createCell(configObjectsOf(objects)), undefined);
  return {
    ports: { ...ports, telemetry: recordingTelemetry(), clock: realClock },
    config: { directories, syncPeriodMs: 60_000 },
    node,
    sources: {
      objects: known,
      tokens: undefined,
      trustBundles: undefined,
      podCertificates: undefined,
      allocatable: node.allocatable,
    },
    volumes,
    api,
    ...(driver === undefined || api === undefined ? { csiDrivers$: undefined } : driverDeps(driver, api, guardDriver)),
  };
}

/** A driver whose volumes nobody attaches. */
function driverDeps(
  { facts, calls }: CsiDriverOfLives,
  api: NonNullable<VolumesDeps["api"]>,
  guardDriver: Failing["guardDriver"],
): Pick<VolumesDeps, "csiDrivers$" | "kinds"> {
  const client = guardDriver(calls) as CsiClient;
  return {
    csiDrivers$: of(new Map([[facts.name, { metadata: { name: facts.name }, spec: { attachRequired: false } }]])),
    kinds: {
      flex: undefined,
      csi: {
        ...{ port: { at: () => client }, api, tokens: undefined, nodeName: NODE_NAME, isAttachedByController: true },
        drivers: createCell<CsiDrivers>(new Map([[facts.name, facts]])),
        node: createCell<Node | undefined>({ metadata: { name: NODE_NAME } }),
        heldVolumes: createHeldVolumes(createCell<readonly string[] | undefined>(undefined)),
      },
    },
  };
}

/** Binds subpaths of the first container, like before its creation. */
function bindParts({ pod, rootDir }: VolumeLivesOptions, { mounts }: MachinePorts, volumes: PodVolumes) {
  const [container] = pod.spec.containers;
  if (container === undefined) throw new Error("a pod without containers");
  const layouts = mountedLayouts(volumes);
  const directories = { rootDir };
  const binds = subPathBinds({ pod, container, volumes: layouts, environment: new Map(), directories });
  if (!binds.ok) throw binds.error;
  return inSequence(binds.value, ({ volumeRoot, subPath, target, isMade }) => {
    const place = { volumeRoot, subPath };
    return isMade
      ? concat(mounts.makeInside(place), mounts.bindInside({ ...place, target }))
      : mounts.bindInside({ ...place, target });
  });
}
