/**
 * The volumes of all pods: reconciles the desired volumes of pods with the actual ones, one worker per volume. Owner
 * of the cell `volumes`, which is loaded from disk at start. Bound: one operation per volume. Upstream:
 * pkg/kubelet/volumemanager.
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
  defer,
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
import type { LeftStage } from "../../core/volume/leftStage.ts";
import { podContentBudget } from "../../core/volume/volumeBudget.ts";
import { isLookedUp } from "../../core/volume/volumeClaim.ts";
import {
  layoutOf,
  usedVolumes,
  type Volume,
  volumeKey,
  type VolumeNode,
  type VolumeOrigin,
} from "../../core/volume/volumeLayout.ts";
import { keyedWorkers } from "../../operators/keyedWorkers.ts";
import { eachOf } from "../../operators/eachOf.ts";
import { inParallel } from "../../operators/inParallel.ts";
import { switchOnNews } from "../../operators/switchOnNews.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import type { ClusterObjects } from "../../ports/clusterObjects.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import { createKeyedCell, type KeyedCell } from "../../state/keyedCell.ts";
import { releaseDevices } from "./deviceMounts.ts";
import { createDeviceTurns, type DeviceTurns } from "./deviceTurns.ts";
import type { PodMemories } from "../podMemories.ts";
import type { PodOutput } from "../podOutputs.ts";
import type { ExpansionDeps } from "./expandVolume.ts";
import { restoreVolumes } from "./restoreVolumes.ts";
import type { ContentSources } from "./volumeContent.ts";
import { followOrigin } from "./volumeOrigin.ts";
import { changedVolumes } from "./changedVolumes.ts";
import { createVolumeSizes, type VolumeSizes } from "./volumeSizes.ts";
import { createVolumeTable, type VolumeTable, type WantedWish } from "./volumeTable.ts";
import { givePodBack, kindNews, restoreKinds, unstageAsLeft, unstageLeft, type VolumeKinds } from "./volumeKinds.ts";
import { createVolumeLabels, labelledVolume, type VolumeLabels } from "./volumeLabels.ts";
import { restoreLabels } from "./restoreLabels.ts";
import { volumeWaitEvents } from "./volumeWaitEvents.ts";
import { volumeWorker } from "./volumeWorker.ts";
import { createContentTurns, type WriteContentDeps } from "./writeContent.ts";
import { layoutOfFound } from "../../core/volume/foundVolume.ts";

type Ports = Pick<KubeletPorts, "files" | "volumeFiles" | "quotas" | "mounts" | "telemetry" | "clock">;

export interface VolumesDeps {
  readonly ports: Ports;
  readonly config: Pick<KubeletConfig, "directories" | "syncPeriodMs">;
  readonly node: VolumeNode;
  readonly sources: ContentSources;
  readonly volumes: KeyedCell<PodUid, PodVolumes>;
  /** Undefined on a standalone node. */
  readonly api: Pick<ApiServer, "get"> | undefined;
  /** For the claims of volumes that are expanded; default: none is. */
  readonly claims?: ExpansionDeps["claims"];
  /** Followed while a pod has CSI volumes; undefined on a standalone node. */
  readonly csiDrivers$: ClusterObjects["csiDrivers$"] | undefined;
  readonly kinds?: VolumeKinds;
}

const NO_KINDS: VolumeKinds = { csi: undefined, flex: undefined };

/** The part of a worker's memory that volumes read. */
export type VolumeMemory = Pick<PodMemories, "objects" | "reported">;

export interface Volumes {
  /** Loads the volumes of earlier kubelets from disk; completes before any worker starts. Never errors. */
  load(): Observable<never>;
  /** Runs the volumes of a pod while its worker lives. Never errors. */
  run(uid: PodUid, commands$: Observable<PodCommand>, memory: VolumeMemory): Observable<PodOutput>;
  /**
   * Gives the volumes of such a pod back to their drivers, and releases its devices, before anything of it is unmounted.
   * Errors: the KubeletError of the first one that stays.
   */
  unpublish(uid: PodUid): Observable<never>;
  /** Unmounts and detaches volumes of the node that no pod has. Emits those that stay, once. Never errors. */
  unstage(): Observable<readonly LeftStage[]>;
  /** Unmounts and detaches each volume of the node that its last pod leaves, while subscribed. Emits those that stay. Never errors. */
  readonly unstaging$: Observable<LeftStage>;
  /** Forgets a pod without a worker whose directory was removed, with its volumes. */
  forget(uid: PodUid): void;
  /**
   * Releases resources of such a pod besides its directory, before the directory is removed: devices no other pod
   * uses, projects of file systems. Errors: the KubeletError of the first one that stays.
   */
  release(uid: PodUid): Observable<never>;
}

/** Creates the only owner of volumes. */
export const createVolumes = (given: VolumesDeps): Volumes =>
  volumesOf({
    kinds: NO_KINDS,
    ...given,
    ...{ turns: createDeviceTurns(), sizes: createVolumeSizes() },
    contentTurns: createContentTurns(given.ports.clock),
    labels: given.node.selinux && createVolumeLabels(given.ports.telemetry),
  });

type Deps = VolumesDeps &
  Pick<WriteContentDeps, "contentTurns"> & {
    readonly turns: DeviceTurns;
    readonly kinds: VolumeKinds;
    readonly sizes: VolumeSizes;
    /** undefined: no volume is mounted with an SELinux label. */
    readonly labels: VolumeLabels | undefined;
  };

const volumesOf = (deps: Deps): Volumes => ({
  load: () => {
    const { kinds, ports, volumes, config, labels } = deps;
    return concat(
      restoreVolumes(ports, config, volumes),
      defer(() => restoreKinds(ports, kinds, volumes, config.directories)),
      defer(() => (labels === undefined ? EMPTY : restoreLabels(ports, kinds, labels, volumes, config.directories))),
    );
  },
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
  unpublish: (uid) => {
    const { ports, kinds, turns, config } = deps;
    return givePodBack(ports, kinds, { turns, directories: config.directories }, uid, deps.volumes.get(uid));
  },
  unstage: () => unstageLeft(deps.ports, deps.kinds, deps.volumes, deps.config.directories),
  unstaging$: unstageAsLeft(deps.ports, deps.kinds, deps.config.directories),
  forget: (uid) => {
    deps.labels?.drop(uid);
    deps.volumes.delete(uid);
  },
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
  // Reading an object may publish it again: only another version counts as a change.
  const changed$ = combineLatest([pods$, memory.objects.changes$]).pipe(map(changedVolumes()));
  const origins: Origins = createKeyedCell();
  const table = createVolumeTable(uid, volumes);
  const budget = podContentBudget();
  const found$ = origins.anyChange$.pipe(
    withLatestFrom(pods$),
    eachOf(([name, pod]) => (pod === "keep" || pod === undefined ? [] : wishOne(pod, name, origins, table, deps))),
  );
  const readmitted$ = (deps.labels?.readmit$ ?? EMPTY).pipe(
    filter((volume) => volume.uid === uid),
    withLatestFrom(pods$),
    eachOf(([{ name }, pod]) => (pod === "keep" || pod === undefined ? [] : wishOne(pod, name, origins, table, deps))),
  );
  const outputs$ = merge(
    readmitted$,
    pods$.pipe(switchMap((pod) => from(pod === "keep" ? [] : wishAll(pod, origins, table, deps)))),
    // After its own wishes are gone: pods with another label wait for this one's tear down from now on.
    pods$.pipe(
      tap((pod) => {
        if (pod === undefined) deps.labels?.drop(uid);
      }),
      ignoreElements(),
    ),
    changed$.pipe(eachOf((names) => names.flatMap((name) => table.keyOf(name) ?? []))),
    found$,
  ).pipe(
    keyedWorkers<string, string, PodOutput>({
      key: (key) => key,
      worker: (key, values$) =>
        volumeWorker(
          merge(
            values$,
            kindNews(deps.kinds, () => table.wanted(key)?.layout, key),
          ).pipe(map(() => table.wanted(key))),
          {
            kinds: deps.kinds,
            uid,
            ports: deps.ports,
            turns: deps.turns,
            claims: deps.claims,
            sizes: deps.sizes,
            contentTurns: deps.contentTurns,
            budget,
            rootDir: deps.config.directories.rootDir,
            node: deps.node,
            sources: deps.sources,
            record: table.record(key),
            syncPeriodMs: deps.config.syncPeriodMs,
          },
        ),
    }),
  );
  return merge(outputs$, followOrigins(pods$, origins, deps), volumeWaitEvents(uid, pods$, deps)).pipe(
    finalize(() => {
      if (!isAllUnmounted(volumes.get(uid) ?? NO_VOLUMES)) return;
      deps.labels?.drop(uid);
      volumes.delete(uid);
    }),
  );
}

/**
 * Returns the pod that needs its volumes; undefined once none of its containers run, or will. A terminating pod still
 * uses them.
 */
function podToServe(command: PodCommand, { reported: { finished } }: VolumeMemory): Pod | "keep" | undefined {
  if (command.phase === "terminated") return undefined;
  if (command.phase === "terminating" || finished || isTerminalPhase(command.pod.status?.phase)) return "keep";
  return command.pod;
}

/** The origins of a pod's volumes, by volume name. */
type Origins = KeyedCell<string, Result<VolumeOrigin>>;

/** Looks up the origins of the pod's volumes while it may need them. */
function followOrigins(
  pods$: Observable<Pod | "keep" | undefined>,
  origins: Origins,
  { api, csiDrivers$, ports: { clock }, config: { syncPeriodMs } }: VolumesDeps,
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
        followOrigin(pod, volume, { api, csiDrivers$, clock, syncPeriodMs }).pipe(
          tap((found) => origins.set(volume.name, found)),
        ),
      ),
    ),
    ignoreElements(),
  );
}

type WishDeps = Pick<Deps, "node" | "labels">;

/** Returns the known facts about one volume. */
function wishOf(pod: Pod, volume: Volume, origins: Origins, deps: WishDeps): VolumeWish {
  const { node } = deps;
  const origin = origins.get(volume.name);
  if (isLookedUp(pod, volume) && origin === undefined) return { kind: "pending" };
  if (origin?.ok === false) return { kind: "refused", error: origin.error };
  const layout =
    origin === undefined ? layoutOf(pod, volume, node) : layoutOfFound(pod, volume.name, origin.value, node);
  if (!layout.ok) return { kind: "refused", error: layout.error };
  const labelled = labelledVolume(pod, volume, origin?.value, layout.value, deps);
  return labelled.ok ? { kind: "resolved", layout: labelled.value } : { kind: "refused", error: labelled.error };
}

const wantedOf = (pod: Pod, volume: Volume, origins: Origins, deps: WishDeps): WantedWish => {
  const wish = wishOf(pod, volume, origins, deps);
  const wanted = wish.kind === "resolved" ? { pod, volume, layout: wish.layout } : undefined;
  return { wish, wanted };
};

/** Sets the desired volumes of the pod; returns the keys of the affected ones. */
function wishAll(pod: Pod | undefined, origins: Origins, table: VolumeTable, deps: WishDeps): readonly string[] {
  const volumes = pod === undefined ? [] : usedVolumes(pod);
  const had = table.keys();
  table.setAll(new Map(volumes.map((volume) => [volume.name, wantedOf(pod as Pod, volume, origins, deps)])));
  return [...table.wantedKeys(), ...leftOf(table, had)];
}

/** Sets the known facts of one volume of the pod; returns the keys of the affected volumes. */
function wishOne(pod: Pod, name: string, origins: Origins, table: VolumeTable, deps: WishDeps): readonly string[] {
  const volume = findNamed(pod.spec.volumes, name);
  if (volume === undefined || !table.has(name)) return [];
  const known = wantedOf(pod, volume, origins, deps);
  const before = table.keyOf(name);
  const wasAllKnown = table.isAllKnown();
  table.set(name, known);
  // The volumes are emitted once, when the last one becomes known.
  const had = !wasAllKnown && table.isAllKnown() ? table.keys() : [];
  const reported = known.wanted === undefined ? [] : [volumeKey(known.wanted.layout)];
  return [...reported, ...leftOf(table, before === undefined ? had : [...had, before])];
}

/** While the volume of a claim is unknown, it may be any of the actual ones. */
const leftOf = (table: VolumeTable, had: readonly string[]): readonly string[] =>
  table.isAllKnown() ? had.filter((key) => table.wanted(key) === undefined) : [];
