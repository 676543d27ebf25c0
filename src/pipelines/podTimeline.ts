/**
 * The timeline of every pod, from existing streams: the registry's changes and the outputs of workers. Owner of the
 * timelines cell. Bound: one timeline per pod, and the last 64 timelines of removed pods, for ten minutes.
 *
 *     registry$    +a--------------------a terminating--------a gone
 *     outputs$     ----fact--status--event-------------fact--
 *     timelines    a---a-----a------a----a-------------a------a kept for a while
 */
import { filter, ignoreElements, map, merge, type Observable, scan, tap } from "rxjs";
import { fullNameOf, type MonotonicMs, type PodUid, podUid } from "../core/ids.ts";
import type { PodRecord, Registry } from "../core/pod/podRegistry.ts";
import { emptyRegistry } from "../core/pod/podRegistry.ts";
import { isCriticalPod } from "../core/pod/criticalPod.ts";
import { advanceTimeline, emptyTimeline } from "../core/timeline/advanceTimeline.ts";
import type { Instant, PodTimeline, AwaitedResources, TimelineInput } from "../core/timeline/timelineTypes.ts";
import type { Clock } from "../ports/clock.ts";
import type { KeyedCell } from "../state/keyedCell.ts";
import type { PodOutput } from "./podOutputs.ts";

/** Time for which the timeline of a removed pod is kept, in milliseconds. */
export const KEPT_MS = 10 * 60_000;
/** Maximum number of timelines of removed pods. */
const MAX_KEPT = 64;

/** Keeps the timelines while subscribed. Never emits. */
export function podTimeline(
  inputs: { readonly registry$: Observable<Registry>; readonly outputs$: Observable<PodOutput> },
  clock: Clock,
  timelines: KeyedCell<PodUid, PodTimeline>,
): Observable<never> {
  const now = (): Instant => ({ wall: clock.wallTime(), mono: clock.monotonicMs() });
  const take = (uid: PodUid, input: TimelineInput): void => {
    const known = timelines.get(uid);
    const next = known === undefined ? undefined : advanceTimeline(known, input, now());
    if (next !== undefined && next !== known) timelines.set(uid, next);
  };
  const recorded$ = inputs.registry$.pipe(
    scan(({ registry: before }, registry) => ({ registry, changed: changedRecords(before, registry), before }), {
      registry: emptyRegistry,
      changed: [] as readonly PodRecord[],
      before: emptyRegistry,
    }),
    tap(({ registry, changed, before }) => {
      for (const record of changed) {
        const { uid } = record.identity;
        if (timelines.get(uid) === undefined) timelines.set(uid, emptyTimeline(record.identity, now()));
        take(uid, recordInput(record, registry));
      }
      let isAnyGone = false;
      for (const uid of before.records.keys()) {
        if (registry.records.has(uid)) continue;
        take(uid, { kind: "gone" });
        isAnyGone = true;
      }
      if (isAnyGone) forgetOld(timelines, clock.monotonicMs());
    }),
  );
  const said$ = inputs.outputs$.pipe(
    map(saidOf),
    filter((said) => said !== undefined),
    tap(({ uid, input }) => take(uid, input)),
  );
  return merge(recorded$, said$).pipe(ignoreElements());
}

/** Records are replaced when they change: comparing references is enough. */
function changedRecords(before: Registry, after: Registry): readonly PodRecord[] {
  if (before.records === after.records) return [];
  const changed: PodRecord[] = [];
  for (const [uid, record] of after.records) if (before.records.get(uid) !== record) changed.push(record);
  return changed;
}

function recordInput(record: PodRecord, { holders }: Registry): TimelineInput {
  const { identity, pod, state, graceSeconds } = record;
  const holder = state === "waiting" ? holders.get(fullNameOf(identity)) : undefined;
  const awaited = state === "waiting" && holder === undefined ? awaitedResources(record) : undefined;
  return { kind: "record", pod, state, graceSeconds, behind: holder, awaited };
}

const PREPARING = {
  ask: "a device plugin chooses devices for it",
  allocate: "device plugins prepare its devices",
} as const;

function awaitedResources({ pod, behind, victims, preparation }: PodRecord): AwaitedResources {
  const until = behind.map((awaited) => awaited.until).toSorted((a, b) => b - a)[0];
  const what = pod !== undefined && isCriticalPod(pod) ? "started beside them" : "rejected";
  const away = behind.find(({ isPlugin }) => isPlugin);
  const plugin =
    preparation === undefined ? away && `the device plugin of ${away.name} is away` : PREPARING[preparation.task.kind];
  return {
    ...(plugin !== undefined && { plugin }),
    pods: behind.map(({ name }) => name),
    isPreempted: behind.some(({ uid }) => victims.includes(uid)),
    due: until === undefined ? undefined : { what, at: until },
  };
}

function saidOf(output: PodOutput): { readonly uid: PodUid; readonly input: TimelineInput } | undefined {
  switch (output.kind) {
    case "fact":
      return { uid: output.uid, input: output.fact };
    case "status":
      return { uid: output.uid, input: output };
    case "event":
      return output.event.object.kind === "Pod" ? { uid: podUid(output.event.object.uid), input: output } : undefined;
    default:
      return undefined;
  }
}

/** Drops timelines of pods that were removed long ago, then the oldest beyond the bound. */
function forgetOld(timelines: KeyedCell<PodUid, PodTimeline>, now: MonotonicMs): void {
  const gone = timelines
    .values()
    .filter(({ state }) => state === "gone")
    .sort((a, b) => a.since.mono - b.since.mono);
  for (const [index, { identity, since }] of gone.entries()) {
    if (index < gone.length - MAX_KEPT || now - since.mono > KEPT_MS) timelines.delete(identity.uid);
  }
}
