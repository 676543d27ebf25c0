/**
 * Keeps the records on disk as the pods of the node need them: level-triggered, from the registry, the statuses and the
 * known needs. Ends of pods are written first. Upstream: none.
 *
 *     registry, statuses, needs --> wanted records --+--> differences --> recordStore
 *     records on disk ------------------------------>+
 *
 * Before all sources have reported, no record is removed: a pod without an object may be one that was not sent yet.
 */
import { catchError, defer, EMPTY, from, type Observable } from "rxjs";
import { type KubeletError, toKubeletError } from "../../core/errors.ts";
import { recordName } from "../../core/offline/keptRecord.ts";
import type { RecordsPlan, WantedRecord, WantedRecords } from "../../core/offline/wantedRecords.ts";
import { boundedMergeMap } from "../../operators/boundedMergeMap.ts";
import { reconcile } from "../../operators/reconcile.ts";
import { whenever } from "../../operators/whenever.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { NodeView } from "../../state/nodeState.ts";
import type { KeptNeeds } from "./keptNeeds.ts";
import type { RecordStore } from "./recordStore.ts";

interface KeepContext {
  readonly store: RecordStore;
  readonly plan: RecordsPlan;
  readonly needs: KeptNeeds;
  readonly ports: Pick<KubeletPorts, "clock" | "telemetry">;
  readonly state: Pick<NodeView, "registry" | "podStatuses">;
}

/** A change of one file. */
type Change = { readonly name: string; readonly record: WantedRecord | undefined };

const WRITES_AT_ONCE = 4;
/** More changes than a node has records. */
const MAX_CHANGES = 65_536;
/** Delay before failed writes are repeated. */
const AGAIN_MS = 10_000;

/** Runs while subscribed. Never emits, never errors. */
export function keepRecords(context: KeepContext): Observable<never> {
  const { needs, ports, state } = context;
  let hasFailed = false;
  const run = (): Observable<never> => {
    hasFailed = false;
    const { plan, podStatuses, registry } = { ...context, ...state };
    const wanted = plan.of(registry.value, (uid) => podStatuses.get(uid), needs, ports.clock.wallTime());
    if (registry.value.isSettled) needs.prune((kind, key) => wanted.has(recordName(kind, key)));
    return from(changesOf(wanted, registry.value.isSettled, context.store)).pipe(
      boundedMergeMap((change) => apply(change, context, () => (hasFailed = true)), {
        limit: WRITES_AT_ONCE,
        queueLimit: MAX_CHANGES,
      }),
    );
  };
  return reconcile({
    triggers$: whenever(state.registry.changes$, state.podStatuses.anyChange$, needs.changes$),
    run,
    wakeAfterMs: () => (hasFailed ? AGAIN_MS : undefined),
    clock: ports.clock,
  });
}

function changesOf(wanted: WantedRecords, mayRemove: boolean, store: RecordStore): readonly Change[] {
  const changes: Change[] = [];
  for (const [name, record] of wanted) {
    if (record !== undefined && store.has(name, record.value) !== true) changes.push({ name, record });
  }
  if (mayRemove) for (const name of store.names()) if (!wanted.has(name)) changes.push({ name, record: undefined });
  return changes.toSorted((a, b) => urgency(b) - urgency(a));
}

const urgency = ({ record }: Change): number => (record === undefined || record.isEnd ? 1 : 0);

/** Changes one file. A pod whose end cannot be written, on a full disk, loses its record instead. */
function apply({ name, record }: Change, { store, ports }: KeepContext, failed: () => void): Observable<never> {
  const report = (what: string, error: KubeletError): void => {
    failed();
    const about = record === undefined ? {} : { kind: record.kind, key: record.key };
    ports.telemetry.log.warn(`Cannot ${what} a record for a boot without the API server`, { name, ...about, error });
  };
  const remove$ = defer(() => store.remove(name)).pipe(
    catchError((thrown: unknown) => {
      report("remove", toKubeletError(thrown));
      return EMPTY;
    }),
  );
  if (record === undefined) return remove$;
  return store.write(name, record).pipe(
    catchError((thrown: unknown) => {
      report("write", toKubeletError(thrown));
      return record.isEnd ? remove$ : EMPTY;
    }),
  );
}
