/** What a pod worker remembers between two syncs. One per worker, written by it alone, gone with it. */
import { Subject } from "rxjs";
import { NO_BACKOFFS, type ContainerBackoffs } from "../core/backoff.ts";
import { type ActualSizes, sizesOf } from "../core/allocation/actualSizes.ts";
import type { Pod, PodStatus } from "../core/api.ts";
import { type ConfigObjects, NO_CONFIG_OBJECTS } from "../core/configObjects.ts";
import type { ContainerFailure, PodFact } from "../core/timeline/timelineTypes.ts";
import type { ProbeVerdict } from "../core/pod/podActionsTypes.ts";
import type { PodCommand } from "../core/pod/podRegistry.ts";
import { encodeProbeJournal } from "../core/probe/probeJournal.ts";
import type { StatusOverride } from "../core/pod/status.ts";
import type { RuntimeState } from "../core/runtime/runtimeState.ts";
import type { KubeletError } from "../core/errors.ts";
import type { ContainerId, MonotonicMs } from "../core/ids.ts";
import { createSemaphore, type Semaphore } from "../operators/semaphore.ts";
import { type Cell, createCell } from "../state/cell.ts";

/** Why a container does not run, and when another try is due, if that is known. */
export interface NotedFailure {
  readonly error: KubeletError;
  readonly retryAt: MonotonicMs | undefined;
  /** The `requiredSequence` of the start that ended it: what was inspected before still shows the container as it was. */
  readonly endedAt?: number;
}

export interface PodMemory {
  /** Why a container does not run, by container name; shown as its waiting reason. */
  readonly failures: Cell<ReadonlyMap<string, NotedFailure>>;
  /** What the pod's timeline is told beside events and statuses: stages, rounds and what is held back. */
  readonly facts: Subject<PodFact>;
  /** What the pod's containers are configured from, as far as it is known. */
  readonly objects: Cell<ConfigObjects>;
  /** How many stages were begun: the next one's number. */
  stagesBegun: number;
  /** What the probes of each container say, by container name; those without probes have no entry. */
  readonly verdicts: Cell<ReadonlyMap<string, ProbeVerdict>>;
  /** The file of the verdicts: one write at a time, what it says, and what it is to say of before anybody is told. */
  readonly probeFile: { readonly gate: Semaphore; written: string; readonly ahead: Map<string, ProbeVerdict> };
  /** Crash-loop backoff by container and spec hash. */
  backoffs: ContainerBackoffs;
  /** The last request to retry at once (`rxlet.dev/retry-at`) that was heeded, or found at first. */
  retryRequest: string | undefined;
  /** What was found wrong with the pod's own backoff and told. */
  toldProblems: readonly string[];
  /** Only an inspection drawn after this has seen all our effects. */
  requiredSequence: number;
  /** The `requiredSequence` of the last look we asked for. */
  askedSequence: number;
  /** How many effects are under way that outlast their phase; see lastingEffect. */
  readonly lasting: Cell<number>;
  /** Aborted with the worker: nothing it began goes on after it. */
  readonly over: AbortController;
  /** What the last round did; undefined when it may be done again at once. */
  done: DoneRound | undefined;
  /** What the last sync decided from, if it found nothing to do; see idleSync. */
  idleBasis: readonly unknown[] | undefined;
  /** When the next sync is due without anything happening; undefined waits for the resync period. */
  wakeAt: MonotonicMs | undefined;
  /** Last status told, the base of the next one. */
  status: PodStatus | undefined;
  /** When a status was told first. */
  toldAt: MonotonicMs | undefined;
  /** A decision of the kubelet's own that the status tells of from then on. */
  override: StatusOverride | undefined;
  /** The command the last sync worked on. */
  synced: PodCommand | undefined;
  /** A sync starts again what it stops: until that is done, no end of a container is the end of the pod. */
  readonly restarting: Cell<boolean>;
  /** The instances whose containers the last sync was to start again. */
  replacing: ReadonlySet<ContainerId>;
  /** Whether the end of the pod was announced. */
  finished: boolean;
  readonly startedAt: MonotonicMs;
  /** Time spent waiting for images so far. */
  pullMs: number;
  /** Instances whose postStart hook has not succeeded (yet), by container name: nobody is told that they have started. */
  readonly postStarting: Cell<ReadonlyMap<string, ContainerId>>;
  /** Instances whose preStop hook was begun: it runs once. */
  readonly preStopped: Set<ContainerId>;
  /** Until when each instance may go on since the end of the pod began: a stop that is repeated gives no more. */
  readonly stopDeadlines: Map<ContainerId, MonotonicMs>;
  /** Exits already counted. */
  readonly seenExits: Set<ContainerId>;
  /** The pod at its allocated size, as last commanded. */
  allocated: Pod | undefined;
  /** What is in force of it. */
  sizes: ActualSizes;
  /** A resize that was granted and is not known to be in force. */
  readonly resizing: Cell<Resizing | undefined>;
  /** The runtime is still to be asked which containers of an earlier kubelet have their allocated size. */
  reportAwaited: boolean;
  /** Content of the allocation file, once written by this worker. */
  checkpoint: string | undefined;
  /** The resized pod that was last said to be on disk. */
  kept: Pod | undefined;
  /** One look at the allocation file, and one write of it, at a time. */
  readonly allocationFile: Semaphore;
}

export interface DoneRound {
  readonly essential: unknown;
  /** What of it is left to do, if that is known. */
  readonly left: unknown;
  /** From when on it may do either again, unless the state of the runtime is another. */
  readonly againAt: MonotonicMs;
  readonly under: RuntimeState;
}

/** A resize under way, as the PodResizeInProgress condition tells it. */
export interface Resizing {
  /** Of the spec it carries out. */
  readonly generation: number | undefined;
  /** Why it could not be put in force, so far. */
  readonly error?: string;
}

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

export function createPodMemory(startedAt: MonotonicMs): PodMemory {
  return {
    failures: createCell<ReadonlyMap<string, NotedFailure>>(NOTHING),
    facts: new Subject(),
    objects: createCell(NO_CONFIG_OBJECTS),
    stagesBegun: 0,
    verdicts: createCell<ReadonlyMap<string, ProbeVerdict>>(NOTHING),
    probeFile: { gate: createSemaphore(1), written: encodeProbeJournal(new Map()), ahead: new Map() },
    backoffs: NO_BACKOFFS,
    retryRequest: undefined,
    toldProblems: [],
    requiredSequence: 0,
    askedSequence: 0,
    lasting: createCell(0),
    over: new AbortController(),
    done: undefined,
    idleBasis: undefined,
    wakeAt: undefined,
    status: undefined,
    toldAt: undefined,
    override: undefined,
    synced: undefined,
    restarting: createCell(false),
    replacing: new Set(),
    finished: false,
    startedAt,
    pullMs: 0,
    postStarting: createCell<ReadonlyMap<string, ContainerId>>(NOTHING),
    preStopped: new Set(),
    stopDeadlines: new Map(),
    seenExits: new Set(),
    allocated: undefined,
    sizes: sizesOf({ containers: {} }),
    resizing: createCell<Resizing | undefined>(undefined),
    reportAwaited: false,
    checkpoint: undefined,
    kept: undefined,
    allocationFile: createSemaphore(1),
  };
}

/** Notes why a container does not run. */
export function noteFailure(memory: PodMemory, name: string, error: KubeletError, retryAt?: MonotonicMs): void {
  setFailures(memory, new Map(memory.failures.value).set(name, { error, retryAt }));
}

/** Notes that a container was started: its failure is over, but told of until an inspection shows it running. */
export function endFailure(memory: PodMemory, name: string): void {
  const noted = memory.failures.value.get(name);
  if (noted === undefined || noted.endedAt !== undefined) return;
  setFailures(memory, new Map(memory.failures.value).set(name, { ...noted, endedAt: memory.requiredSequence }));
}

/** The timeline is told first: the status that follows from a failure comes after it. */
function setFailures(memory: PodMemory, failures: ReadonlyMap<string, NotedFailure>): void {
  const told = notOver(failures).map(([name, { error, retryAt }]): readonly [string, ContainerFailure] => {
    return [name, { reason: error.reason, message: error.message, retryAt }];
  });
  memory.facts.next({ kind: "failures", failures: new Map(told) });
  memory.failures.set(failures);
}

/** Failures not over yet, or not as far as an inspection with this sequence number could see; default: any could. */
export const failuresAt = ({ failures }: PodMemory, sequence?: number): readonly NamedFailure[] =>
  notOver(failures.value, sequence);

type NamedFailure = readonly [name: string, failure: NotedFailure];

const notOver = (
  failures: ReadonlyMap<string, NotedFailure>,
  sequence = Number.POSITIVE_INFINITY,
): readonly NamedFailure[] => [...failures].filter(([, { endedAt }]) => endedAt === undefined || sequence < endedAt);

/** Moves the next wake-up forward, never back. */
export function wakeBy(memory: PodMemory, at: MonotonicMs | undefined): void {
  if (at === undefined) return;
  if (memory.wakeAt === undefined || at < memory.wakeAt) memory.wakeAt = at;
}
