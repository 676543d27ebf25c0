/**
 * Watches the cells and queues of a node for the live view: one draft of a marble per new value. Works only while it is
 * subscribed, so that a node without watchers pays nothing. Upstream: none.
 *
 *     cells, queues      ----v-----w--
 *     watchPlaces        ----m-----m--
 */
import { defer, EMPTY, map, merge, switchMap, type Observable, pairwise, skip } from "rxjs";
import { MAX_BATCH } from "../../core/live/liveMessages.ts";
import type { MarbleDraft } from "../../core/live/marbleLog.ts";
import type { PodUid } from "../../core/ids.ts";
import { EXITED } from "../../core/timeline/statusEntries.ts";
import type { PodTimeline, TimelineEntry } from "../../core/timeline/timelineTypes.ts";
import type { Queue } from "../../operators/createQueue.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ReadonlyCell } from "../../state/cell.ts";
import type { ReadonlyKeyedCell } from "../../state/keyedCell.ts";
import type { NodeView } from "../../state/nodeState.ts";
import type { Queues } from "../queues.ts";
import {
  cellText,
  eventSaid,
  inputSaid,
  outputSaid,
  registrySaid,
  runtimeSaid,
  type Said,
  statusSaid,
  volumesSaid,
} from "./placeTexts.ts";

/** Emits a draft for each new value while it is subscribed. Never completes, never errors. */
export function watchPlaces(
  state: NodeView,
  queues: Queues,
  { wallTime }: Pick<Clock, "wallTime">,
): Observable<MarbleDraft> {
  const said = (place: string) => map((value: Said): MarbleDraft => ({ place, at: wallTime(), ...value }));
  const cells$ = plainCells(state).map(([name, cell]) =>
    cell.changes$.pipe(
      skip(1),
      map((value) => ({ text: cellText(name, value) })),
      said(name),
    ),
  );
  const registry$ = state.registry.changes$.pipe(
    pairwise(),
    switchMap(([before, after]) => registrySaid(before, after)),
  );
  const { registryInputs, inspections, events, runtimeLooks, exhaustedDrivers, evictions } = queues;
  return merge(
    ...cells$,
    registry$.pipe(said("registry")),
    keyed(state.runtimeStatuses, runtimeSaid).pipe(said("runtimeStatuses")),
    keyed(state.podStatuses, statusSaid).pipe(said("podStatuses")),
    keyed(state.volumes, volumesSaid).pipe(said("volumes")),
    steps(state.timelines),
    pushed(registryInputs, inputSaid).pipe(said("registryInputs")),
    pushed(inspections, (pod) => ({ pod, text: "inspect" })).pipe(said("inspections")),
    pushed(events, eventSaid).pipe(said("events")),
    pushed(runtimeLooks, () => ({ text: "look again" })).pipe(said("runtimeLooks")),
    pushed(exhaustedDrivers, (text) => ({ text })).pipe(said("exhaustedDrivers")),
    pushed(evictions, outputSaid).pipe(said("evictions")),
  );
}

/** The cells with one value, but for the registry, which has a value per pod. */
const plainCells = (state: NodeView): readonly (readonly [string, ReadonlyCell<unknown>])[] =>
  Object.entries(state).flatMap(([name, place]) =>
    "changes$" in place && "value" in place && name !== "registry" ? [[name, place] as const] : [],
  );

const pushed = <T>({ pushes$ }: Pick<Queue<T>, "pushes$">, say: (value: T) => Said): Observable<Said> =>
  pushes$.pipe(map(say));

/** Says each new value before others react to it, so that causes come before their effects. */
const keyed = <V>(cell: ReadonlyKeyedCell<PodUid, V>, say: (value: V) => Omit<Said, "pod">): Observable<Said> =>
  cell.sets$.pipe(
    switchMap((pod) => {
      const value = cell.get(pod);
      return value === undefined ? EMPTY : [{ ...say(value), pod }];
    }),
  );

/** Emits the latest steps of all pods at once, at most MAX_BATCH, then each further one when it has ended. */
const steps = (timelines: ReadonlyKeyedCell<PodUid, PodTimeline>): Observable<MarbleDraft> =>
  defer(() => stepsFromNow(timelines));

function stepsFromNow(timelines: ReadonlyKeyedCell<PodUid, PodTimeline>): Observable<MarbleDraft> {
  const seen = new Map<PodUid, number>();
  const countOf = ({ dropped, entries }: PodTimeline): number => dropped + entries.length;
  const past = timelines.values().flatMap((timeline) => {
    const { uid } = timeline.identity;
    seen.set(uid, countOf(timeline));
    return timeline.entries.map((entry) => stepDraft(uid, entry));
  });
  const ended$ = timelines.anyChange$.pipe(
    switchMap((pod) => {
      const timeline = timelines.get(pod);
      if (timeline === undefined) {
        seen.delete(pod);
        return EMPTY;
      }
      const known = seen.get(pod) ?? 0;
      const total = countOf(timeline);
      seen.set(pod, total);
      return total <= known ? EMPTY : timeline.entries.slice(known - total).map((entry) => stepDraft(pod, entry));
    }),
  );
  return merge(past.toSorted((a, b) => a.at - b.at).slice(-MAX_BATCH), ended$);
}

/** Stages have the time of their start, the end of a container that of its end. */
const endOf = ({ at, what, tookMs = 0 }: TimelineEntry): number => (what === EXITED ? at : at + tookMs);

function stepDraft(pod: PodUid, entry: TimelineEntry): MarbleDraft {
  const { what, container, tookMs, outcome, message } = entry;
  return {
    ...{ place: "timelines", at: endOf(entry), pod, text: container === undefined ? what : `${what} ${container}` },
    ...(message === undefined ? {} : { detail: message }),
    ...(tookMs === undefined ? {} : { tookMs }),
    ...(outcome === undefined ? {} : { outcome }),
  };
}
