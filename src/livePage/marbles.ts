/**
 * The diagram's own state: marbles in lanes, the choice of lanes, the window of time, the marble under the cursor and
 * the open one. The canvas reads it in each frame; signals are for what is around the canvas.
 */
import { batch, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { LiveMarble, LivePod } from "../core/live/liveMessages.ts";
import { createLanes, type Lane, type LaneKind, type LaneNames, type Lanes, NODE_LANE } from "./model/lanes.ts";
import { createPodNames } from "./model/podNames.ts";
import { createPlaceHues } from "./model/placeHues.ts";
import { marbleFilter } from "./model/marbleFilter.ts";
import { chainOf, createMarbleStore, type MarbleStore } from "./model/marbleStore.ts";
import { FIRST_WINDOW, fitting, isPaused, paused, resumed, revealing, type TimeWindow } from "./model/timeWindow.ts";

export interface Marbles {
  readonly store: MarbleStore;
  readonly window: Signal<TimeWindow>;
  readonly kind: Signal<LaneKind>;
  readonly filter: Signal<string>;
  /** UID of the only pod whose marbles are shown. */
  readonly pod: Signal<string | undefined>;
  /** The marble under the keyboard's cursor, and its lane. */
  readonly cursor: Signal<{ readonly lane: string; readonly id: number } | undefined>;
  readonly opened: Signal<LiveMarble | undefined>;
  /** Places that marbles have named, in the order of their colours. */
  readonly places: ReadonlySignal<readonly string[]>;
  /** Index of a place's colour. */
  hueOf(place: string): number;
  lanes(): readonly Lane[];
  podName(uid: string): string;
  /** Key of the lane that a marble is in. */
  laneKey(marble: LiveMarble): string;
  choose(choice: { readonly kind?: LaneKind; readonly filter?: string; readonly pod?: string | undefined }): void;
  togglePause(): void;
  /** Shows the time of a marble, its causes and its effects. */
  fit(marble: LiveMarble): void;
  /** Moves the cursor to a marble, stops the time and shows the marble. */
  visit(marble: LiveMarble): void;
  add(marbles: readonly LiveMarble[], dropped: number): void;
  takePods(pods: readonly LivePod[]): void;
}

/** Makes the state of a diagram; `now` is the node's time. */
export function createMarbles(now: () => number): Marbles {
  const window = signal(FIRST_WINDOW);
  const choices = { kind: signal<LaneKind>("pod"), filter: signal(""), pod: signal<string | undefined>(undefined) };
  const cursor = signal<{ readonly lane: string; readonly id: number } | undefined>(undefined);
  const opened = signal<LiveMarble | undefined>(undefined);
  const kept = keepLanes(choices);
  const { store, laneKey } = kept;
  return {
    ...kept,
    ...choices,
    window,
    cursor,
    opened,
    choose(choice) {
      batch(() => {
        if (choice.kind !== undefined) choices.kind.value = choice.kind;
        if (choice.filter !== undefined) choices.filter.value = choice.filter;
        if ("pod" in choice) choices.pod.value = choice.pod;
      });
      kept.rebuild();
    },
    togglePause() {
      const isStill = isPaused(window.peek());
      window.value = isStill ? resumed(window.peek()) : paused(window.peek(), now());
      // The cursor would leave the window at once.
      if (isStill && opened.peek() === undefined) cursor.value = undefined;
    },
    fit(marble) {
      window.value = fitting(chainOf(store, marble).map(({ at, tookMs = 0 }) => [at - tookMs, at]));
    },
    visit(marble) {
      batch(() => {
        cursor.value = { lane: laneKey(marble), id: marble.id };
        window.value = revealing(paused(window.peek(), now()), marble.at, now());
      });
    },
    add: (marbles, dropped) => store.add(marbles, dropped),
  };
}

type Kept = Pick<Marbles, "store" | "places" | "hueOf" | "lanes" | "podName" | "laneKey" | "takePods"> & {
  /** Makes the lanes anew, after another choice. */
  rebuild(): void;
};

/** Keeps the marbles, and those of the choice in lanes. */
function keepLanes({ kind, filter, pod }: Pick<Marbles, "kind" | "filter" | "pod">): Kept {
  const names = createPodNames();
  const places = signal<readonly string[]>([]);
  const hues = createPlaceHues(() => (places.value = [...hues.seen]));
  const laneNames: LaneNames = {
    podName: names.of,
    get places() {
      return hues.seen;
    },
    get pods() {
      return names.pods;
    },
  };
  const chosenLanes = (): Lanes =>
    createLanes({ kind: kind.peek(), filter: marbleFilter(filter.peek()), pod: pod.peek() }, laneNames);
  let lanes = chosenLanes();
  const store = createMarbleStore({
    added(marble) {
      hues.of(marble.place);
      lanes.add(marble);
    },
    removed: (marble) => lanes.remove(marble),
    cleared: () => lanes.clear(),
  });
  return {
    store,
    places,
    hueOf: (place) => hues.of(place),
    lanes: () => lanes.list(),
    podName: names.of,
    laneKey: ({ pod: uid = NODE_LANE, place }) => (kind.peek() === "pod" ? uid : place),
    takePods(pods) {
      names.take(pods);
      lanes.renamed();
    },
    rebuild() {
      lanes = chosenLanes();
      const { items, first } = store.all;
      for (let index = first; index < items.length; index += 1) lanes.add(items[index] as LiveMarble);
    },
  };
}
