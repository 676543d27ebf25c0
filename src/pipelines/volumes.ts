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
  distinctUntilChanged,
  EMPTY,
  finalize,
  from,
  map,
  merge,
  type Observable,
  of,
  skip,
  switchMap,
  withLatestFrom,
} from "rxjs";
import type { Pod } from "../core/api.ts";
import type { PodUid } from "../core/ids.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import { isTerminalPhase } from "../core/pod/phase.ts";
import { podEventObject } from "../core/pod/podEvents.ts";
import type { PodCommand } from "../core/pod/podRegistry.ts";
import {
  isAllUnmounted,
  NO_VOLUMES,
  type PodVolumes,
  type VolumeWish,
  waitMessage,
} from "../core/volume/podVolumes.ts";
import { layoutOf, usedVolumes, type VolumeNode, volumeKey } from "../core/volume/volumeLayout.ts";
import { keyedWorkers } from "../operators/keyedWorkers.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { KeyedCell } from "../state/keyedCell.ts";
import { eventOutput } from "./podContext.ts";
import type { PodMemory } from "./podMemory.ts";
import type { PodOutput } from "./podOutputs.ts";
import { restoreVolumes } from "./restoreVolumes.ts";
import type { ContentSources } from "./volumeContent.ts";
import { type VolumeRecord, volumeWorker, type Wanted } from "./volumeWorker.ts";

type Ports = Pick<KubeletPorts, "files" | "volumeFiles" | "mounts" | "telemetry" | "clock">;

export interface VolumesDeps {
  readonly ports: Ports;
  readonly config: Pick<KubeletConfig, "directories" | "syncPeriodMs">;
  readonly node: VolumeNode;
  readonly sources: ContentSources;
  readonly volumes: KeyedCell<PodUid, PodVolumes>;
}

export interface Volumes {
  /** Learns what earlier kubelets left on disk; completes before any worker begins. Never errors. */
  load(): Observable<never>;
  /** Runs the volumes of one pod for as long as its worker lives. Never errors. */
  run(uid: PodUid, commands$: Observable<PodCommand>, memory: PodMemory): Observable<PodOutput>;
}

/** How long a pod waits for its volumes before that is told: upstream's podAttachAndMountTimeout. */
const TOLD_AFTER_MS = 123_000;

/** Makes the one owner of volumes. */
export const createVolumes = (deps: VolumesDeps): Volumes => ({
  load: () => restoreVolumes(deps.ports, deps.config, deps.volumes),
  run: (uid, commands$, memory) => runPod(uid, commands$, memory, deps),
});

/** What one volume's worker is told. */
interface Told {
  readonly key: string;
  readonly wanted: Wanted | undefined;
}

function runPod(
  uid: PodUid,
  commands$: Observable<PodCommand>,
  memory: PodMemory,
  deps: VolumesDeps,
): Observable<PodOutput> {
  const { volumes } = deps;
  const pods$ = commands$.pipe(map((command) => podToServe(command, memory)));
  const changed$ = memory.objects.changes$.pipe(
    skip(1),
    withLatestFrom(pods$),
    map(([, pod]) => pod),
  );
  const told$ = merge(pods$, changed$).pipe(
    switchMap((pod) => from(wish(uid, pod, deps))),
    keyedWorkers<Told, string, PodOutput>({
      key: ({ key }) => key,
      worker: (key, values$) =>
        volumeWorker(values$.pipe(map(({ wanted }) => wanted)), {
          uid,
          ports: deps.ports,
          rootDir: deps.config.directories.rootDir,
          sources: deps.sources,
          record: recordOf(uid, key, volumes),
          syncPeriodMs: deps.config.syncPeriodMs,
        }),
    }),
  );
  return merge(told$, tellWaits(uid, pods$, deps)).pipe(
    finalize(() => {
      if (isAllUnmounted(volumes.get(uid) ?? NO_VOLUMES)) volumes.delete(uid);
    }),
  );
}

/** The pod that needs its volumes; undefined once nothing of it runs, or will. A pod that ends still uses them. */
function podToServe(command: PodCommand, { finished }: PodMemory): Pod | "keep" | undefined {
  if (command.phase === "terminated") return undefined;
  if (command.phase === "terminating" || finished || isTerminalPhase(command.pod.status?.phase)) return "keep";
  return command.pod;
}

/** Sets what the pod wants, and says whom that concerns. */
function wish(uid: PodUid, pod: Pod | "keep" | undefined, { volumes, node }: VolumesDeps): readonly Told[] {
  if (pod === "keep") return [];
  const before = volumes.get(uid) ?? NO_VOLUMES;
  const used = pod === undefined ? [] : usedVolumes(pod);
  const wishes = new Map<string, VolumeWish>();
  const told = new Map<string, Told>();
  for (const key of before.actual.keys()) told.set(key, { key, wanted: undefined });
  for (const volume of used) {
    const layout = layoutOf(pod as Pod, volume, node);
    wishes.set(
      volume.name,
      layout.ok ? { kind: "resolved", layout: layout.value } : { kind: "refused", error: layout.error },
    );
    if (!layout.ok) continue;
    const key = volumeKey(layout.value);
    told.set(key, { key, wanted: { pod: pod as Pod, volume, layout: layout.value } });
  }
  if (wishes.size > 0 || before.wishes.size > 0) volumes.set(uid, { ...before, wishes });
  return [...told.values()];
}

const recordOf = (uid: PodUid, key: string, volumes: KeyedCell<PodUid, PodVolumes>): VolumeRecord => ({
  get: () => volumes.get(uid)?.actual.get(key),
  set(volume) {
    const known = volumes.get(uid) ?? NO_VOLUMES;
    const actual = new Map(known.actual);
    if (volume === undefined) actual.delete(key);
    else actual.set(key, volume);
    volumes.set(uid, { ...known, actual });
  },
});

/** Says what the pod waits for: at once when no time will help, else when it has waited for long, and again. */
function tellWaits(
  uid: PodUid,
  pods$: Observable<Pod | "keep" | undefined>,
  { volumes, ports }: VolumesDeps,
): Observable<PodOutput> {
  return pods$.pipe(
    switchMap((pod) => {
      if (pod === undefined || pod === "keep") return EMPTY;
      const names = usedVolumes(pod).map(({ name }) => name);
      const message = (): string | undefined => waitMessage(names, volumes.get(uid) ?? NO_VOLUMES);
      const isRefused = (): boolean =>
        [...(volumes.get(uid)?.wishes.values() ?? [])].some(({ kind }) => kind === "refused");
      const tell = (): Observable<PodOutput> => {
        const text = message();
        if (text === undefined) return EMPTY;
        return of(eventOutput({ type: "Warning", reason: "FailedMount", message: text, object: podEventObject(pod) }));
      };
      return volumes.changes$(uid).pipe(
        map(() => (message() === undefined ? "none" : isRefused() ? "refused" : "waiting")),
        distinctUntilChanged(),
        switchMap((wait) => {
          if (wait === "none") return EMPTY;
          return pollAfter(ports.clock, TOLD_AFTER_MS, tell, { immediately: wait === "refused" });
        }),
      );
    }),
  );
}
