/**
 * The volumes of all pods: what their workers want less what the node has, one worker per volume. Owner of the cell
 * `volumes`, which is learnt from disk at start. Bound: one operation per volume. Counterpart: pkg/kubelet/volumemanager.
 *
 *     commands        sync----------------------------terminated--
 *     objects         ------------(changed)-----------------------
 *     volume a        [set up]    [set up]            [tear down]
 *     volume b        [set up fails]  [set up]        [tear down]
 *     cell            -----a----------b---------------------a,b gone
 */
import {
  combineLatest,
  concat,
  distinctUntilChanged,
  EMPTY,
  filter,
  finalize,
  from,
  ignoreElements,
  map,
  merge,
  type Observable,
  switchMap,
  tap,
  withLatestFrom,
} from "rxjs";
import type { Pod } from "../../core/api.ts";
import type { PodUid } from "../../core/ids.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { podDir } from "../../core/paths.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import type { PodCommand } from "../../core/pod/podRegistry.ts";
import type { Result } from "../../core/result.ts";
import { findNamed } from "../../core/findNamed.ts";
import { sameItems } from "../../core/sameValue.ts";
import { isAllUnmounted, NO_VOLUMES, type PodVolumes, type VolumeWish } from "../../core/volume/podVolumes.ts";
import { isLookedUp } from "../../core/volume/volumeClaim.ts";
import {
  layoutOf,
  layoutOfFound,
  usedVolumes,
  type Volume,
  volumeKey,
  type VolumeNode,
  type VolumeOrigin,
} from "../../core/volume/volumeLayout.ts";
import { keyedWorkers } from "../../operators/keyedWorkers.ts";
import { eachOf } from "../../operators/eachOf.ts";
import { inParallel } from "../../operators/inParallel.ts";
import { createSemaphore } from "../../operators/semaphore.ts";
import { switchOnNews } from "../../operators/switchOnNews.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import type { ClusterObjects } from "../../ports/clusterObjects.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import { createKeyedCell, type KeyedCell } from "../../state/keyedCell.ts";
import { type DeviceTurns, releaseDevices } from "./deviceMounts.ts";
import type { PodMemories } from "../podMemories.ts";
import type { PodOutput } from "../podOutputs.ts";
import { restoreVolumes } from "./restoreVolumes.ts";
import type { ContentSources } from "./volumeContent.ts";
import { followOrigin } from "./volumeOrigin.ts";
import { changedVolumes } from "./changedVolumes.ts";
import { createVolumeTable, type VolumeTable, type WantedWish } from "./volumeTable.ts";
import { volumeWaitEvents } from "./volumeWaitEvents.ts";
import { volumeWorker } from "./volumeWorker.ts";

type Ports = Pick<KubeletPorts, "files" | "volumeFiles" | "quotas" | "mounts" | "telemetry" | "clock">;

export interface VolumesDeps {
  readonly ports: Ports;
  readonly config: Pick<KubeletConfig, "directories" | "syncPeriodMs">;
  readonly node: VolumeNode;
  readonly sources: ContentSources;
  readonly volumes: KeyedCell<PodUid, PodVolumes>;
  /** Absent on a node of no cluster. */
  readonly api: Pick<ApiServer, "get"> | undefined;
  /** Followed while a pod has volumes of CSI; absent likewise. */
  readonly csiDrivers$: ClusterObjects["csiDrivers$"] | undefined;
}

/** The part of a worker's memory that volumes read. */
export type VolumeMemory = Pick<PodMemories, "objects" | "reported">;

export interface Volumes {
  /** Learns what earlier kubelets left on disk; completes before any worker begins. Never errors. */
  load(): Observable<never>;
  /** Runs the volumes of one pod for as long as its worker lives. Never errors. */
  run(uid: PodUid, commands$: Observable<PodCommand>, memory: VolumeMemory): Observable<PodOutput>;
  /** The directory of a pod that has no worker was removed, and its volumes with it. */
  forget(uid: PodUid): void;
  /**
   * Takes away what such a pod had of the node beside its directory, before that goes: devices no other pod has, projects
   * of file systems. Errors: KubeletError of the first that stays.
   */
  release(uid: PodUid): Observable<never>;
}

/** Makes the one owner of volumes. */
export const createVolumes = (given: VolumesDeps): Volumes => volumesOf({ ...given, turns: createSemaphore(1) });

type Deps = VolumesDeps & { readonly turns: DeviceTurns };

const volumesOf = (deps: Deps): Volumes => ({
  load: () => restoreVolumes(deps.ports, deps.config, deps.volumes),
  // A pod without volumes subscribes to nothing.
  run: (uid, commands$, memory) =>
    commands$.pipe(
      switchOnNews({
        select: ({ pod }) =>
          deps.volumes.get(uid) !== undefined || (pod !== undefined && usedVolumes(pod).length > 0) ? uid : undefined,
        same: () => true,
        run: () => runPod(uid, commands$, memory, deps),
      }),
    ),
  forget: (uid) => deps.volumes.delete(uid),
  release: (uid) =>
    concat(
      releaseDevices(deps.ports, deps.config.directories, deps.turns),
      deps.ports.quotas?.clear(podDir(deps.config.directories, uid)) ?? EMPTY,
    ).pipe(ignoreElements()),
});

function runPod(
  uid: PodUid,
  commands$: Observable<PodCommand>,
  memory: VolumeMemory,
  deps: Deps,
): Observable<PodOutput> {
  const { volumes } = deps;
  const pods$ = commands$.pipe(map((command) => podToServe(command, memory)));
  // To read an object may be told as news of it, so only another version of one is.
  const changed$ = combineLatest([pods$, memory.objects.changes$]).pipe(map(changedVolumes()));
  const origins: Origins = createKeyedCell();
  const table = createVolumeTable(uid, volumes);
  const found$ = origins.anyChange$.pipe(
    withLatestFrom(pods$),
    eachOf(([name, pod]) => (pod === "keep" || pod === undefined ? [] : wishOne(pod, name, origins, table, deps))),
  );
  const told$ = merge(
    pods$.pipe(switchMap((pod) => from(pod === "keep" ? [] : wishAll(pod, origins, table, deps)))),
    changed$.pipe(eachOf((names) => names.flatMap((name) => table.keyOf(name) ?? []))),
    found$,
  ).pipe(
    keyedWorkers<string, string, PodOutput>({
      key: (key) => key,
      worker: (key, values$) =>
        volumeWorker(values$.pipe(map(() => table.wanted(key))), {
          uid,
          ports: deps.ports,
          turns: deps.turns,
          rootDir: deps.config.directories.rootDir,
          node: deps.node,
          sources: deps.sources,
          record: table.record(key),
          syncPeriodMs: deps.config.syncPeriodMs,
        }),
    }),
  );
  return merge(told$, followOrigins(pods$, origins, deps), volumeWaitEvents(uid, pods$, deps)).pipe(
    finalize(() => {
      if (isAllUnmounted(volumes.get(uid) ?? NO_VOLUMES)) volumes.delete(uid);
    }),
  );
}

/** The pod that needs its volumes; undefined once nothing of it runs, or will. A pod that ends still uses them. */
function podToServe(command: PodCommand, { reported: { finished } }: VolumeMemory): Pod | "keep" | undefined {
  if (command.phase === "terminated") return undefined;
  if (command.phase === "terminating" || finished || isTerminalPhase(command.pod.status?.phase)) return "keep";
  return command.pod;
}

/** The origins of a pod's volumes, by volume name. */
type Origins = KeyedCell<string, Result<VolumeOrigin>>;

/** Looks up what the volumes of the pod name for as long as it may need them. */
function followOrigins(
  pods$: Observable<Pod | "keep" | undefined>,
  origins: Origins,
  { api, csiDrivers$, ports: { clock } }: VolumesDeps,
): Observable<never> {
  const lookedUp = (pod: Pod) =>
    usedVolumes(pod).flatMap((volume) => (isLookedUp(pod, volume) ? [{ pod, volume }] : []));
  return pods$.pipe(
    filter((pod) => pod !== "keep"),
    map((pod) => (pod === undefined ? [] : lookedUp(pod))),
    distinctUntilChanged((before, now) =>
      sameItems(
        before.map(({ volume }) => volume.name),
        now.map(({ volume }) => volume.name),
      ),
    ),
    switchMap((list) =>
      inParallel(list, ({ pod, volume }) =>
        followOrigin(pod, volume, { api, csiDrivers$, clock }).pipe(tap((found) => origins.set(volume.name, found))),
      ),
    ),
    ignoreElements(),
  );
}

/** Returns the known facts about one volume. */
function wishOf(pod: Pod, volume: Volume, origins: Origins, node: VolumeNode): VolumeWish {
  const origin = origins.get(volume.name);
  if (isLookedUp(pod, volume) && origin === undefined) return { kind: "pending" };
  if (origin?.ok === false) return { kind: "refused", error: origin.error };
  const layout = origin === undefined ? layoutOf(pod, volume, node) : layoutOfFound(pod, origin.value, node);
  return layout.ok ? { kind: "resolved", layout: layout.value } : { kind: "refused", error: layout.error };
}

const wantedOf = (pod: Pod, volume: Volume, origins: Origins, node: VolumeNode): WantedWish => {
  const wish = wishOf(pod, volume, origins, node);
  const wanted = wish.kind === "resolved" ? { pod, volume, layout: wish.layout } : undefined;
  return { wish, wanted };
};

/** Sets what the pod wants; the keys of the volumes that this concerns. */
function wishAll(pod: Pod | undefined, origins: Origins, table: VolumeTable, { node }: VolumesDeps): readonly string[] {
  const volumes = pod === undefined ? [] : usedVolumes(pod);
  const had = table.keys();
  table.setAll(new Map(volumes.map((volume) => [volume.name, wantedOf(pod as Pod, volume, origins, node)])));
  return [...table.wantedKeys(), ...leftOf(table, had)];
}

/** Sets what is known of one volume of the pod now; the keys of the volumes that this concerns. */
function wishOne(
  pod: Pod,
  name: string,
  origins: Origins,
  table: VolumeTable,
  { node }: VolumesDeps,
): readonly string[] {
  const volume = findNamed(pod.spec.volumes, name);
  if (volume === undefined || !table.has(name)) return [];
  const known = wantedOf(pod, volume, origins, node);
  const before = table.keyOf(name);
  const wasAllKnown = table.isAllKnown();
  table.set(name, known);
  // All of them only once, when the last one becomes known.
  const had = !wasAllKnown && table.isAllKnown() ? table.keys() : [];
  const told = known.wanted === undefined ? [] : [volumeKey(known.wanted.layout)];
  return [...told, ...leftOf(table, before === undefined ? had : [...had, before])];
}

/** While it is not known which volume a claim means, any that is there may be it. */
const leftOf = (table: VolumeTable, had: readonly string[]): readonly string[] =>
  table.isAllKnown() ? had.filter((key) => table.wanted(key) === undefined) : [];
