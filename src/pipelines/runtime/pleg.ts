/**
 * PLEG: turns hints and relists into inspected pod statuses. A hint names a pod to inspect; the relist finds changes
 * without a hint. Owner of the cells `listing`, `relistedAt` and `runtimeStatuses`. Bound: `inspectionsAtOnce`
 * inspections, one waiting per pod. Upstream: pkg/kubelet/pleg generic.go and evented.go, container/cache.go.
 */
import { catchError, connect, defer, filter, map, merge, type Observable, of, switchMap, tap, timer } from "rxjs";
import { type KubeletError, toKubeletError } from "../../core/errors.ts";
import type { MonotonicMs, PodUid } from "../../core/ids.ts";
import { invariant } from "../../core/invariant.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { uninspectedPods } from "../../core/runtime/measuredPods.ts";
import type { PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import { changedPods, inspectedPrints, type RuntimeListing } from "../../core/runtime/runtimeListing.ts";
import { VERBOSITY } from "../../core/telemetry/verbosity.ts";
import { conflateByKey } from "../../operators/conflateByKey.ts";
import { eachOf } from "../../operators/eachOf.ts";
import type { KubeletPorts, RuntimeSignal } from "../../ports/kubeletPorts.ts";
import type { Cell } from "../../state/cell.ts";
import type { KeyedCell } from "../../state/keyedCell.ts";
import type { Sequence } from "../../state/sequence.ts";
import { inspectPod } from "./inspectPod.ts";
import { createMissedHints, type MissedHints } from "./missedHints.ts";
import { relists } from "./relists.ts";
import { hintedPods } from "./runtimeHints.ts";
import { spaceInspections } from "./spaceInspections.ts";

type Ports = Pick<KubeletPorts, "runtime" | "clock" | "files" | "logFiles" | "telemetry">;
type Config = Pick<KubeletConfig, "relistPeriodMs" | "resyncPeriodMs" | "inspectionDeadlineMs" | "inspectionsAtOnce">;

/** Delay before a failed inspection is repeated; the pod's worker waits meanwhile, other workers are not affected. */
const INSPECT_AGAIN_MS = 1_000;
export interface PlegInputs {
  readonly signals$: Observable<RuntimeSignal>;
  /** Pods to inspect, from the pod workers and from failed inspections; arrives through a queue. */
  readonly requests$: Observable<PodUid>;
}

export interface PlegCells {
  readonly listing: Cell<RuntimeListing | undefined>;
  readonly relistedAt: Cell<MonotonicMs | undefined>;
  readonly runtimeStatuses: KeyedCell<PodUid, PodRuntimeStatus>;
  readonly sequence: Sequence;
  /**
   * Returns whether the kubelet still has a record of the pod: statuses of other pods are dropped once the runtime
   * has no part of them.
   */
  readonly hasRecord: (uid: PodUid) => boolean;
}

export type PlegOutput =
  /** The event stream opened or broke. */
  | { readonly kind: "streamChanged" }
  /** The listing cell has a new value. */
  | { readonly kind: "relisted" }
  /** An inspection failed a while ago, or missed a change that a hint reported meanwhile: request it again. */
  | { readonly kind: "inspectAgain"; readonly uid: PodUid };

/** The inspections that a signal or request asks for. */
interface Look {
  readonly uids: readonly PodUid[];
  readonly output: "streamChanged" | "relisted" | undefined;
}

const lookAt = (uid: PodUid): Look => ({ uids: [uid], output: undefined });

/** Follows the runtime while subscribed. */
export function pleg(inputs: PlegInputs, ports: Ports, config: Config, cells: PlegCells): Observable<PlegOutput> {
  const missed = createMissedHints(cells.sequence);
  const signalled$ = inputs.signals$.pipe(
    tap((signal) => report(signal, ports)),
    connect((signals$) =>
      merge(
        hintedPods(signals$, cells, missed, ports.clock).pipe(map(lookAt)),
        signals$.pipe(
          filter((signal) => signal.kind !== "hint"),
          map((): Look => ({ uids: [], output: "streamChanged" })),
        ),
        relistedLooks(signals$, ports, config, cells),
      ),
    ),
  );
  const requested$ = inputs.requests$.pipe(map(lookAt));
  return merge(signalled$, requested$).pipe(
    connect((looks$) =>
      merge(
        looks$.pipe(eachOf(({ output }): readonly PlegOutput[] => (output === undefined ? [] : [{ kind: output }]))),
        inspections(looks$, ports, config, { ...cells, missed }),
      ),
    ),
  );
}

function relistedLooks(
  signals$: Observable<RuntimeSignal>,
  ports: Ports,
  config: Config,
  cells: PlegCells,
): Observable<Look> {
  const { listing, relistedAt, runtimeStatuses: statuses } = cells;
  return signals$.pipe(
    filter((signal) => signal.kind !== "hint"),
    switchMap((signal) => relists(signal, ports, config)),
    map(({ listing: after, parts }): Look => {
      const uids = changedPods(inspectedPrints(statuses.values()), after);
      const uninspected = uninspectedPods(uids, parts, after, (uid) => statuses.get(uid));
      listing.set(uninspected.size === 0 ? after : { ...after, uninspected });
      relistedAt.set(ports.clock.monotonicMs());
      forgetGone(after, cells);
      return { uids, output: "relisted" };
    }),
  );
}

function inspections(
  looks$: Observable<Look>,
  ports: Ports,
  config: Config,
  cells: PlegCells & { readonly missed: MissedHints },
): Observable<PlegOutput> {
  const { clock, telemetry } = ports;
  return looks$.pipe(
    eachOf(({ uids }) => uids),
    spaceInspections(cells.runtimeStatuses, clock),
    conflateByKey((uid: PodUid) => inspect(uid, ports, config, cells), {
      key: (uid) => uid,
      limit: config.inspectionsAtOnce,
      onDepth: (waiting) => telemetry.metrics.gauge("rxlet_queue_depth", waiting, { queue: "inspections" }),
    }),
    connect((outcomes$) =>
      merge(
        outcomes$.pipe(
          filter((outcome) => "status" in outcome && cells.missed.isBehind(outcome.status)),
          map(({ uid }): PlegOutput => ({ kind: "inspectAgain", uid })),
        ),
        outcomes$.pipe(
          filter((outcome) => "error" in outcome),
          conflateByKey(
            ({ uid }) =>
              timer(INSPECT_AGAIN_MS, clock.scheduler).pipe(map((): PlegOutput => ({ kind: "inspectAgain", uid }))),
            { key: ({ uid }) => uid, limit: Number.POSITIVE_INFINITY },
          ),
        ),
      ),
    ),
  );
}

type Inspection =
  | { readonly uid: PodUid; readonly status: PodRuntimeStatus }
  | { readonly uid: PodUid; readonly error: KubeletError };

function inspect(uid: PodUid, ports: Ports, config: Config, cells: PlegCells): Observable<Inspection> {
  const { clock, telemetry } = ports;
  const { listing, runtimeStatuses: statuses, sequence, hasRecord } = cells;
  return defer(() => {
    const startedAt = clock.monotonicMs();
    return inspectPod(uid, statuses.get(uid), { ports, sequence, deadlineMs: config.inspectionDeadlineMs }).pipe(
      map((status): Inspection => {
        telemetry.metrics.observe("kubelet_pleg_pod_relist_duration_seconds", (clock.monotonicMs() - startedAt) / 1000);
        telemetry.metrics.count("rxlet_inspections_total", { result: "ok" });
        telemetry.log.verbose("pleg", VERBOSITY.inspections, "Pod inspected", () => ({
          podUid: uid,
          containers: status.containers.map(({ name, state }) => `${name}: ${state}`),
        }));
        if (isEmpty(status)) unlist(uid, listing);
        if (isEmpty(status) && !hasRecord(uid)) statuses.delete(uid);
        else keep(status, statuses);
        return { uid, status };
      }),
      catchError((thrown: unknown) => {
        const error = toKubeletError(thrown);
        telemetry.metrics.count("rxlet_inspections_total", { result: error.code });
        telemetry.log.debug("pleg", "Inspection failed", { podUid: uid, error });
        return of<Inspection>({ uid, error });
      }),
    );
  });
}

/** Readers take a higher sequence for a later look: an older one would hide the effects of a pod's worker from it. */
function keep(status: PodRuntimeStatus, statuses: PlegCells["runtimeStatuses"]): void {
  const before = statuses.get(status.podUid)?.sequence ?? 0;
  invariant(status.sequence > before, `an inspection of pod ${status.podUid} is older than the one before`);
  statuses.set(status.podUid, status);
}

const isEmpty = (status: PodRuntimeStatus): boolean => status.sandboxes.length + status.containers.length === 0;

/**
 * Removes a pod from the listing after an inspection that found nothing, which is newer: readers must not see a
 * removed pod.
 */
function unlist(uid: PodUid, listing: PlegCells["listing"]): void {
  const known = listing.value;
  if (known?.pods.has(uid) !== true) return;
  const others = <T>(pods: ReadonlyMap<PodUid, T>) => new Map([...pods].filter(([listed]) => listed !== uid));
  const { pods, uninspected, ...rest } = known;
  listing.set({ ...rest, pods: others(pods), ...(uninspected && { uninspected: others(uninspected) }) });
}

/** Inspections requested during the removal of a pod leave an entry behind when its record is removed. */
function forgetGone({ pods }: RuntimeListing, { runtimeStatuses: statuses, hasRecord }: PlegCells): void {
  for (const status of statuses.values()) {
    const { podUid } = status;
    if (isEmpty(status) && !pods.has(podUid) && !hasRecord(podUid)) statuses.delete(podUid);
  }
}

function report(signal: RuntimeSignal, { telemetry, clock }: Ports): void {
  switch (signal.kind) {
    case "streaming":
      telemetry.metrics.count("kubelet_evented_pleg_connection_success_count");
      telemetry.log.info("Runtime event stream is open", { via: signal.via });
      break;
    case "lost":
      telemetry.metrics.count("kubelet_evented_pleg_connection_error_count");
      if (signal.isAway)
        telemetry.log.verbose("pleg", VERBOSITY.debug, "Runtime event stream is lost, reopening", () => ({}));
      else telemetry.log.warn("Runtime event stream is lost, reopening", { reason: signal.reason });
      break;
    case "unsupported":
      telemetry.log.warn("The runtime has no event stream: relisting instead", {});
      break;
    case "hint":
      if (signal.sentAt !== undefined) {
        const seconds = Math.max(0, clock.wallTime() - signal.sentAt) / 1000;
        telemetry.metrics.observe("kubelet_evented_pleg_connection_latency_seconds", seconds);
      }
      break;
    case "opening":
      break;
  }
}
