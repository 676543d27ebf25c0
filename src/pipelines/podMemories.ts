/**
 * The memories of a pod worker, one per owner. They are created for one worker, written by it alone, and end with it.
 */
import { Subject } from "rxjs";
import { NO_BACKOFFS, type ContainerBackoffs } from "../core/backoff.ts";
import { type ActualSizes, sizesOf } from "../core/allocation/actualSizes.ts";
import type { Pod, PodStatus } from "../core/api.ts";
import { type ConfigObjects, NO_CONFIG_OBJECTS } from "../core/configObjects.ts";
import type { PodFact } from "../core/timeline/timelineTypes.ts";
import type { ProbeVerdict } from "../core/pod/podActionsTypes.ts";
import type { PodCommand } from "../core/pod/podRegistry.ts";
import { encodeProbeJournal } from "../core/probe/probeJournal.ts";
import type { StatusOverride } from "../core/pod/status.ts";
import type { StatusTimes } from "../core/pod/statusTimes.ts";
import type { RuntimeState } from "../core/runtime/runtimeState.ts";
import type { PodHardware } from "../core/topology/hardware.ts";
import type { KubeletError } from "../core/errors.ts";
import type { ContainerId, MonotonicMs } from "../core/ids.ts";
import { createSemaphore, type Semaphore } from "../operators/semaphore.ts";
import { type Cell, createCell } from "../state/cell.ts";

/** Why a container does not run, and when another try is due, if that is known. */
export interface NotedFailure {
  readonly error: KubeletError;
  readonly retryAt: MonotonicMs | undefined;
  /**
   * The `requiredSequence` of the start that ended it: earlier inspections still show the previous state of the
   * container.
   */
  readonly endedAt?: number;
}

/**
 * The pod's timeline, beside events and statuses. Owner: `podStage.ts`, `podFailures.ts` and `podRound.ts` add facts.
 */
export interface TimelineMemory {
  /** Stages, rounds and failures. */
  readonly facts: Subject<PodFact>;
  /** Number of stages begun so far, which is the number of the next one. */
  stagesBegun: number;
}

/** Effects on the runtime. Owner: `podContext.ts`. */
export interface EffectMemory {
  /** Only an inspection with a later number includes all effects of this worker. */
  requiredSequence: number;
  /** The `requiredSequence` of the last requested inspection. */
  askedSequence: number;
  /** Number of running effects that outlast their phase; see `lastingEffect`. */
  readonly lasting: Cell<number>;
  /** Aborted when the worker ends, with everything it started. */
  readonly over: AbortController;
}

/**
 * Rounds of the phases, and syncs. Owner: `podRound.ts`, `podSync.ts`, `syncSteps.ts`; `steerCrashLoop.ts` resets
 * `done`.
 */
export interface RoundMemory {
  /** The last round; undefined when it may be repeated at once. */
  done: DoneRound | undefined;
  /** The inputs of the last sync if it found nothing to do; see `idleSync.ts`. */
  idleBasis: readonly unknown[] | undefined;
  /** Time of the next sync without a trigger; undefined waits for the resync period. */
  wakeAt: MonotonicMs | undefined;
  /** The command of the last sync. */
  synced: PodCommand | undefined;
  /** Set while a sync restarts containers: until it is done, the exit of a container is not the end of the pod. */
  readonly restarting: Cell<boolean>;
  /** The instances whose containers the last sync restarts. */
  replacing: ReadonlySet<ContainerId>;
}

/**
 * The status as reported. Owner: `podStatusStream.ts`; `activeDeadlineTimer.ts` may finish the pod, `statusTimesFile.ts`
 * reads `earlier`.
 */
export interface ReportedMemory {
  /** The last status, the base of the next one. */
  status: PodStatus | undefined;
  /** Times of the status before a restart of the kubelet. */
  earlier: StatusTimes | undefined;
  /** Times of the last status, for the disk; only of static pods. */
  readonly times: Cell<StatusTimes | undefined>;
  /** Time of the first reported status. */
  firstAt: MonotonicMs | undefined;
  /** A decision of the kubelet (such as an eviction) that all later statuses show. */
  override: StatusOverride | undefined;
  /** Whether the end of the pod was announced. */
  finished: boolean;
}

/** Crash-loop backoff. Owner: `steerCrashLoop.ts` and `syncSteps.ts`. */
export interface CrashLoopMemory {
  /** Backoffs by container and spec hash. */
  backoffs: ContainerBackoffs;
  /** The last request to retry at once (`rxlet.dev/retry-at`) that was honoured, or that existed at the start. */
  retryRequest: string | undefined;
  /** Problems of the pod's own backoff settings, as reported. */
  reportedProblems: readonly string[];
}

/** Probe results. Owner: `probes/probes.ts`, `probes/probeJournalFile.ts`. */
export interface ProbeMemory {
  /** Verdicts by container name; containers without probes have no entry. */
  readonly verdicts: Cell<ReadonlyMap<string, ProbeVerdict>>;
  /** The file of the verdicts: one write at a time, its content, and verdicts it must have before they are reported. */
  readonly file: { readonly gate: Semaphore; written: string; readonly ahead: Map<string, ProbeVerdict> };
}

/** Lifecycle hooks and stops. Owner: `postStart.ts`, `preStop.ts`, `killPod.ts`. */
export interface HookMemory {
  /** Instances whose postStart hook has not succeeded yet, by container name. They are not reported as started. */
  readonly postStarting: Cell<ReadonlyMap<string, ContainerId>>;
  /** Instances whose preStop hook has started: it runs once. */
  readonly preStopped: Set<ContainerId>;
  /** Deadline by which each instance must have stopped. A repeated stop does not extend it. */
  readonly stopDeadlines: Map<ContainerId, MonotonicMs>;
}

/** Start of the pod and counted exits, for metrics. Owner: `startContainer.ts`, `podMetrics.ts`. */
export interface StartMemory {
  readonly startedAt: MonotonicMs;
  /** Time spent waiting for images so far. */
  pullMs: number;
  /** Exits that were counted. */
  readonly seenExits: Set<ContainerId>;
}

/**
 * Allocated and actual size. Owner: `keepAllocation.ts`, `podResize.ts`; `sandbox.ts` and `startContainer.ts` note the
 * sizes they create with.
 */
export interface AllocationMemory {
  /** The pod at its allocated size, as last commanded. */
  allocated: Pod | undefined;
  /** Hardware of its containers, as last commanded. */
  hardware: PodHardware | undefined;
  /** The actual sizes. */
  sizes: ActualSizes;
  /** An allocated resize that is not known to be actuated. */
  readonly resizing: Cell<Resizing | undefined>;
  /** An earlier kubelet allocated it: the file may say more than the spec. */
  isInherited: boolean;
  /** Set while the runtime has to report which containers of an earlier kubelet have their allocated size. */
  reportAwaited: boolean;
  /** Content of the allocation file, once this worker has written it. */
  checkpoint: string | undefined;
  /** The resized pod that was last reported as written. */
  kept: Pod | undefined;
  /** Admits one read or write of the allocation file at a time. */
  readonly file: Semaphore;
}

/** All memories of one worker. */
export interface PodMemories {
  /** Why a container does not run, by container name; shown as its waiting reason. Owner: `podFailures.ts`. */
  readonly failures: Cell<ReadonlyMap<string, NotedFailure>>;
  /** Known ConfigMaps, Secrets and services that the pod refers to. Owner: `podObjects.ts`. */
  readonly objects: Cell<ConfigObjects>;
  readonly timeline: TimelineMemory;
  readonly effects: EffectMemory;
  readonly rounds: RoundMemory;
  readonly reported: ReportedMemory;
  readonly crashLoop: CrashLoopMemory;
  readonly probing: ProbeMemory;
  readonly hooks: HookMemory;
  readonly start: StartMemory;
  readonly allocation: AllocationMemory;
}

export interface DoneRound {
  readonly essential: unknown;
  /** The remaining part of the round, if known. */
  readonly left: unknown;
  /** Time from which the round may repeat, unless the state of the runtime changed. */
  readonly againAt: MonotonicMs;
  readonly under: RuntimeState;
}

/** A resize in progress, as the PodResizeInProgress condition reports it. */
export interface Resizing {
  /** Generation of the spec that the resize actuates. */
  readonly generation: number | undefined;
  /** The last error of its actuation. */
  readonly error?: string;
}

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

/** Creates empty memories of a worker that starts at this time. */
export function createPodMemories(startedAt: MonotonicMs): PodMemories {
  return {
    failures: createCell<ReadonlyMap<string, NotedFailure>>(NOTHING),
    objects: createCell(NO_CONFIG_OBJECTS),
    timeline: { facts: new Subject(), stagesBegun: 0 },
    effects: { requiredSequence: 0, askedSequence: 0, lasting: createCell(0), over: new AbortController() },
    rounds: {
      done: undefined,
      idleBasis: undefined,
      wakeAt: undefined,
      synced: undefined,
      restarting: createCell(false),
      replacing: new Set(),
    },
    reported: {
      ...{ status: undefined, earlier: undefined, firstAt: undefined, override: undefined, finished: false },
      times: createCell<StatusTimes | undefined>(undefined),
    },
    crashLoop: { backoffs: NO_BACKOFFS, retryRequest: undefined, reportedProblems: [] },
    probing: {
      verdicts: createCell<ReadonlyMap<string, ProbeVerdict>>(NOTHING),
      file: { gate: createSemaphore(1), written: encodeProbeJournal(new Map()), ahead: new Map() },
    },
    hooks: {
      postStarting: createCell<ReadonlyMap<string, ContainerId>>(NOTHING),
      preStopped: new Set(),
      stopDeadlines: new Map(),
    },
    start: { startedAt, pullMs: 0, seenExits: new Set() },
    allocation: {
      allocated: undefined,
      hardware: undefined,
      sizes: sizesOf({ containers: {} }),
      resizing: createCell<Resizing | undefined>(undefined),
      isInherited: false,
      reportAwaited: false,
      checkpoint: undefined,
      kept: undefined,
      file: createSemaphore(1),
    },
  };
}

/** Moves the next wake-up forward, never back. */
export function wakeBy(rounds: RoundMemory, at: MonotonicMs | undefined): void {
  if (at === undefined) return;
  if (rounds.wakeAt === undefined || at < rounds.wakeAt) rounds.wakeAt = at;
}
