/**
 * The diagram's own state: marbles in lanes, the choice of lanes, the window of time, the marble under the cursor and
 * the open one. The canvas reads it in each frame; signals are for what is around the canvas.
 */
import { batch, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { LiveMarble, LivePod } from "../core/live/liveMessages.ts";
import { createLanes, type Lane, type LaneKind, type LaneNames } from "./model/lanes.ts";
import { createPlaceHues } from "./model/placeHues.ts";
import { marbleFilter } from "./model/marbleFilter.ts";
import { createMarbleStore, type MarbleStore } from "./model/marbleStore.ts";
import { shownText } from "./model/shownText.ts";
import { FIRST_WINDOW, isPaused, paused, resumed, revealing, type TimeWindow } from "./model/timeWindow.ts";

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
  choose(choice: { readonly kind?: LaneKind; readonly filter?: string; readonly pod?: string | undefined }): void;
  togglePause(): void;
  /** Moves the cursor to a marble, stops the time and shows the marble. */
  visit(marble: LiveMarble): void;
  add(marbles: readonly LiveMarble[], dropped: number): void;
  takePlaces(places: readonly string[]): void;
  takePods(pods: readonly LivePod[]): void;
}

const MAX_NAME = 120;
/** Names of pods that are gone are remembered for their marbles. */
const MAX_NAMES = 5_000;

/** Makes the state of a diagram; `now` is the node's time. */
export function createMarbles(now: () => number): Marbles {
  const names = new Map<string, string>();
  let places: readonly string[] = [];
  let pods: readonly string[] = [];
  const laneNames: LaneNames = {
    podName: (uid) => names.get(uid) ?? shownText(uid, MAX_NAME),
    get places() {
      return places;
    },
    get pods() {
      return pods;
    },
  };
  const window = signal(FIRST_WINDOW);
  const kind = signal<LaneKind>("pod");
  const filter = signal("");
  const pod = signal<string | undefined>(undefined);
  const cursor = signal<{ readonly lane: string; readonly id: number } | undefined>(undefined);
  const opened = signal<LiveMarble | undefined>(undefined);
  const seen = signal<readonly string[]>([]);
  const hues = createPlaceHues(() => (seen.value = [...hues.seen]));
  let lanes = createLanes({ kind: "pod", filter: undefined, pod: undefined }, laneNames);
  const store = createMarbleStore({
    added(marble) {
      hues.of(marble.place);
      lanes.add(marble);
    },
    removed: (marble) => lanes.remove(marble),
    cleared: () => lanes.clear(),
  });
  const rebuild = (): void => {
    const choice = { kind: kind.peek(), filter: marbleFilter(filter.peek()), pod: pod.peek() };
    lanes = createLanes(choice, laneNames);
    const { items, first } = store.all;
    for (let index = first; index < items.length; index += 1) lanes.add(items[index] as LiveMarble);
  };
  return {
    store,
    window,
    kind,
    filter,
    pod,
    cursor,
    opened,
    places: seen,
    hueOf: (place) => hues.of(place),
    lanes: () => lanes.list(),
    podName: laneNames.podName,
    choose(choice) {
      batch(() => {
        if (choice.kind !== undefined) kind.value = choice.kind;
        if (choice.filter !== undefined) filter.value = choice.filter;
        if ("pod" in choice) pod.value = choice.pod;
      });
      rebuild();
    },
    togglePause() {
      window.value = isPaused(window.peek()) ? resumed(window.peek()) : paused(window.peek(), now());
    },
    visit(marble) {
      const lane = (kind.peek() === "pod" ? marble.pod : marble.place) ?? "";
      batch(() => {
        cursor.value = { lane, id: marble.id };
        window.value = revealing(paused(window.peek(), now()), marble.at, now());
      });
    },
    add: (marbles, dropped) => store.add(marbles, dropped),
    takePlaces(found) {
      places = found.map((place) => shownText(place, 64));
      lanes.renamed();
    },
    takePods(found) {
      for (const { uid, namespace, name } of found) {
        names.delete(uid);
        names.set(uid, shownText(`${namespace}/${name}`, MAX_NAME));
      }
      for (const uid of names.keys()) if (names.size > MAX_NAMES) names.delete(uid);
      pods = found.map(({ uid }) => uid);
      lanes.renamed();
    },
  };
}
