/** A node in virtual time for tests of the eviction manager: memory, disk and pods are set, outputs are read back. */
import { defer, delay, EMPTY, ignoreElements, map, NEVER, type Observable, of, tap, throwError } from "rxjs";
import type { DiskLayout } from "../../src/core/eviction/nodeReclaim.ts";
import type { Pod } from "../../src/core/api.ts";
import { kubeletError } from "../../src/core/errors.ts";
import { NO_EVICTION_VIEW } from "../../src/core/eviction/evictionView.ts";
import type { SignalLooks } from "../../src/core/eviction/pressureView.ts";
import type { Signal, Threshold } from "../../src/core/eviction/thresholds.ts";
import { podUid } from "../../src/core/ids.ts";
import { NO_PRESSURE } from "../../src/core/node/nodeFacts.ts";
import { freshRecord, identityOf } from "../../src/core/pod/podRecord.ts";
import { emptyRegistry, type PodRecord } from "../../src/core/pod/podRegistry.ts";
import type { PodStats, Summary } from "../../src/core/stats/summary.ts";
import { ImageFsInfoResponse } from "../../src/gen/cri.ts";
import type { EvictionContext } from "../../src/pipelines/eviction/evictionContext.ts";
import { evictionManager } from "../../src/pipelines/eviction/evictionManager.ts";
import type { PodOutput } from "../../src/pipelines/podOutputs.ts";
import type { Clock } from "../../src/ports/clock.ts";
import { createCell } from "../../src/state/cell.ts";
import { recordingTelemetry } from "./recordingTelemetry.ts";

/** A threshold below which a signal is low. */
export const below = (signal: Signal, units: number, more: Partial<Threshold> = {}): Threshold => ({
  signal,
  least: { units },
  graceMs: 0,
  reclaim: undefined,
  ...more,
});

/** Makes a node with 1000 bytes of memory and of disk, all free. */
export function evictionNode(
  clock: Clock,
  thresholds: readonly Threshold[],
  settings: Partial<EvictionContext["config"]> = {},
) {
  /** The events of the run, each with its time. */
  const story: string[] = [];
  /** How old counts of directories might be, for each request that needed them. */
  const countAges: (number | undefined)[] = [];
  const note = (what: string): unknown => story.push(`${clock.monotonicMs()} ${what}`);
  const telemetry = recordingTelemetry();
  const free = { memory: 1_000, disk: 1_000 };
  const answers = {
    measures: true,
    /** Time that counting the directories of pods takes. */
    countMs: 0,
    diskLayout: (): Observable<DiskLayout> => of({ hasImageFs: false, isSplit: false }),
    /** Completes when resources of the node were freed. */
    freed: EMPTY,
  };
  const usage = new Map<string, Partial<PodStats>>();
  const cells = {
    registry: createCell(emptyRegistry),
    pressures: createCell(NO_PRESSURE),
    eviction: createCell(NO_EVICTION_VIEW),
    signalLooks: createCell<SignalLooks>(new Map()),
  };
  const space = () => ({
    capacityBytes: 1_000n,
    availableBytes: BigInt(free.disk),
    usedBytes: 0n,
    inodes: 9n,
    inodesFree: 9n,
  });
  const ports = {
    clock,
    telemetry,
    hostUsage: {
      memory: () =>
        defer(() => of({ availableBytes: BigInt(free.memory), workingSetBytes: BigInt(1_000 - free.memory) })),
      fileSystem: () => defer(() => of(space())),
      pids: () => NEVER,
    },
    images: {
      imageFsInfo: () => of(ImageFsInfoResponse.create({ imageFilesystems: [{ fsId: { mountpoint: "/images" } }] })),
    },
  } as unknown as EvictionContext["ports"];
  const summary = (): Observable<Summary> =>
    defer(() => {
      note("measures pods");
      if (!answers.measures) return throwError(() => kubeletError("Unavailable", "away"));
      const pods = [...usage].map(([name, more]) => ({
        podRef: { name, namespace: "demo", uid: name },
        startTime: clock.wallTime(),
        containers: [],
        ...more,
      }));
      return of({ node: { nodeName: "node", startTime: clock.wallTime() }, pods });
    });
  const reclaim = { images: () => {}, containers: () => {} };
  const reclaimed = (what: keyof typeof reclaim): Observable<never> =>
    defer(() => {
      note(`deletes unused ${what}`);
      reclaim[what]();
      return answers.freed;
    });
  const config: EvictionContext["config"] = {
    evictionThresholds: thresholds,
    pressureTransitionMs: 1_000,
    evictionMaxPodGraceSeconds: 0,
    limitsLocalStorage: true,
    nodeName: "node",
    directories: { rootDir: "/kubelet", podLogsDir: "/logs", containerLogsDir: "/links" },
    separatesDisks: true,
    cgroupsPerQos: true,
    cgroupRoot: "/",
    cgroupDriver: "cgroupfs",
    ...settings,
  };
  const setRecord = (record: PodRecord): void => {
    const records = new Map(cells.registry.value.records).set(record.identity.uid, record);
    cells.registry.set({ ...cells.registry.value, records });
  };
  const tools = {
    stats: {
      summary: (maxAgeMs?: number) => {
        countAges.push(maxAgeMs);
        return answers.countMs === 0 ? summary() : summary().pipe(delay(answers.countMs, clock.scheduler));
      },
      summaryWithoutDirectories: summary,
      diskLayout: () => defer(() => answers.diskLayout()),
    },
    reclaim: {
      deleteUnusedImages: () => reclaimed("images"),
      deleteUnusedContainers: () => reclaimed("containers"),
    },
  };
  return {
    story,
    countAges,
    telemetry,
    free,
    answers,
    reclaim,
    cells,
    /** Runs the manager; never emits. */
    run: (wake$: Observable<unknown> = NEVER): Observable<never> =>
      evictionManager({ wake$ }, { ports, config, cells, tools }).pipe(
        tap((output) => note(textOf(output))),
        map(() => undefined as never),
        ignoreElements(),
      ),
    /** Adds a running pod that uses so many bytes of memory. */
    start(pod: Pod, memoryBytes: number, more: Partial<PodStats> = {}): void {
      const time = clock.wallTime();
      setRecord({ ...freshRecord(identityOf(pod)), pod, allocated: pod, state: "syncing" });
      usage.set(pod.metadata.uid, { memory: { time, workingSetBytes: memoryBytes }, ...more });
    },
    /** Changes the record of a pod. */
    becomes(uid: string, more: Partial<PodRecord>): void {
      const record = cells.registry.value.records.get(podUid(uid));
      if (record !== undefined) setRecord({ ...record, ...more });
    },
  };
}

function textOf(output: PodOutput): string {
  if (output.kind === "event") return `event ${output.event.reason}`;
  if (output.kind === "fact" && output.fact.kind === "remark") return `${output.fact.what} ${output.uid}`;
  return output.kind === "evicted" ? `evicts ${output.uid} within ${output.graceSeconds} s` : output.kind;
}
