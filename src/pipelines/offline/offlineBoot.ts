/**
 * A boot without the API server: keeps on disk what API pods need, and restores it when that server does not answer in
 * time. Owns the records on disk and the needs in memory. Upstream: none since 1.24 (its bootstrap checkpoint).
 *
 *     pods, objects, tokens --> keepRecords --> records on disk --> load --> restorePods --> podConfig (RESTORE)
 *                                                                     +----> offlinePorts: objects, tokens, services
 */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  filter,
  ignoreElements,
  map,
  type Observable,
  switchMap,
  take,
  tap,
} from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import type { Pod } from "../../core/api.ts";
import type { PodUid } from "../../core/ids.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { SourceSnapshot } from "../../core/pod/sourceSnapshot.ts";
import { recordName } from "../../core/offline/keptRecord.ts";
import { restoredCluster } from "../../core/offline/restoredCluster.ts";
import { createRecordsPlan } from "../../core/offline/wantedRecords.ts";
import { deadline } from "../../operators/deadline.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { whenever } from "../../operators/whenever.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { PodReports } from "../../ports/podReports.ts";
import { createLateCell } from "../../state/cell.ts";
import type { NodeView } from "../../state/nodeState.ts";
import { keepRecords } from "./keepRecords.ts";
import { createKeptNeeds } from "./keptNeeds.ts";
import { offlinePorts } from "./offlinePorts.ts";
import { createRecordStore, type RecordStore } from "./recordStore.ts";
import { restorePods } from "./restorePods.ts";

export interface OfflineBoot {
  /** The ports for all other parts. */
  readonly ports: KubeletPorts;
  /** Reads the records, then keeps them. Never emits, never errors. */
  readonly keep$: Observable<never>;
}

type State = Pick<NodeView, "registry" | "podStatuses" | "restored">;

/** Longest delay of a report about an ended pod by a disk that does not take the record. */
const REPORT_DELAY_MS = 5_000;

/** Wraps the ports; unless configured, returns them as they are. */
export function createOfflineBoot(ports: KubeletPorts, config: KubeletConfig, state: State): OfflineBoot {
  const { sealing, clock, telemetry } = ports;
  const { offlineBoot } = config;
  if (offlineBoot === undefined || sealing === undefined || ports.api === undefined) return { ports, keep$: EMPTY };
  const needs = createKeptNeeds();
  const plan = createRecordsPlan();
  const store = createRecordStore(ports, sealing, config);
  const pods = createLateCell<readonly Pod[]>();
  let hasAnswered = false;
  const load$ = store.load().pipe(
    map((records) => restoredCluster(records, clock.wallTime())),
    tap((cluster) => {
      needs.take(cluster);
      pods.set(hasAnswered ? [] : cluster.pods);
    }),
    switchMap(({ faults }) =>
      inSequence(faults, ({ kind, key, reason }) => store.setAside(recordName(kind, key), reason)),
    ),
  );
  const snapshots$ = ports.snapshots$.pipe(
    restorePods({ ...offlineBoot, clock, pods$: pods.changes$ }),
    tap((snapshot) => {
      report(snapshot, ports, offlineBoot.waitMs, state);
      if (hasAnswered || snapshot.source !== "api" || snapshot.restored === true) return;
      // The pods from disk are of no use any more.
      hasAnswered = true;
      pods.set([]);
    }),
  );
  const isEndKept = (uid: PodUid): boolean => {
    const record = plan.ofPod(state.registry.value, uid, state.podStatuses.get(uid));
    return record?.isEnd !== true || store.has(record.name, record.value) !== false;
  };
  return {
    ports: {
      ...ports,
      ...offlinePorts(ports, needs, state.restored),
      snapshots$,
      podReports: podReports(isEndKept, store, ports),
    },
    keep$: concat(load$, keepRecords({ store, plan, needs, ports: { clock, telemetry }, state })),
  };
}

/** Logs and counts the restored pods, and the first answer of the API server after them. */
function report(
  { source, pods, restored, ready }: SourceSnapshot,
  { telemetry: { log, metrics } }: Pick<KubeletPorts, "telemetry">,
  waitMs: number,
  state: Pick<State, "restored">,
): void {
  if (source !== "api" || ready === false || (restored !== true && !state.restored.value)) return;
  const count = pods.length;
  metrics.gauge("rxlet_offline_restored_pods", restored === true ? count : 0, {});
  if (restored === true) log.warn("The API server does not answer: its pods are restored from disk", { count, waitMs });
  else log.info("The API server answers: the restored pods are compared with its pods", { count });
}

/** Delays reports about a pod that has ended until its record says so, or there is none. */
const podReports = (
  isSettled: (uid: PodUid) => boolean,
  { changes$ }: RecordStore,
  { clock, telemetry }: Pick<KubeletPorts, "clock" | "telemetry">,
): PodReports => ({
  before: (uid) =>
    defer(() =>
      isSettled(uid)
        ? EMPTY
        : whenever(changes$).pipe(
            filter(() => isSettled(uid)),
            take(1),
            ignoreElements(),
            deadline(REPORT_DELAY_MS, clock),
            catchError((thrown: unknown) => {
              const error = toKubeletError(thrown);
              telemetry.log.warn("The end of a pod is reported before its record is on disk", { podUid: uid, error });
              return EMPTY;
            }),
          ),
    ),
});
