/**
 * Lanes of the diagram: one per pod or one per place, each with its marbles in order. The order of lanes depends on
 * names alone, so that they stay where they are while values come.
 */
import type { LiveMarble } from "../../core/live/liveMessages.ts";
import type { MarbleFilter } from "./marbleFilter.ts";
import { createSlidingList, type SlidingList } from "./slidingList.ts";

export type LaneKind = "pod" | "place";

export interface Lane {
  readonly key: string;
  label: string;
  readonly marbles: Pick<SlidingList<LiveMarble>, "items" | "first" | "size">;
}

/** The lane of marbles that concern no pod. */
export const NODE_LANE = "";

/** Names that lanes and filters need. */
export interface LaneNames {
  /** `namespace/name`, or what else is known of it. */
  podName(uid: string): string;
  /** Places in the order of their lanes. */
  readonly places: readonly string[];
  /** UIDs of the node's pods in the order of their names. */
  readonly pods: readonly string[];
}

export interface LaneChoice {
  readonly kind: LaneKind;
  readonly filter: MarbleFilter | undefined;
  /** Only marbles of this pod. */
  readonly pod: string | undefined;
}

export interface Lanes {
  /** In the order in which they are shown. */
  list(): readonly Lane[];
  add(marble: LiveMarble): void;
  /** Takes away the oldest marble. */
  remove(marble: LiveMarble): void;
  clear(): void;
  /** Takes new names of pods and places. */
  renamed(): void;
}

type OwnLane = Lane & { readonly marbles: SlidingList<LiveMarble> };

/** Lanes besides those of pods and places that are there: of pods that are gone, and of places without a part. */
const MAX_OTHERS = 200;

/** Makes lanes. With a filter, those without marbles are left out. */
export function createLanes(choice: LaneChoice, names: LaneNames): Lanes {
  const byKey = new Map<string, OwnLane>();
  let shown: readonly Lane[] | undefined;
  const labelOf = (key: string): string =>
    choice.kind === "place" ? key : key === NODE_LANE ? "node" : names.podName(key);
  const laneOf = (key: string): OwnLane => {
    const known = byKey.get(key);
    if (known !== undefined) return known;
    const lane = { key, label: labelOf(key), marbles: createSlidingList<LiveMarble>() };
    byKey.set(key, lane);
    shown = undefined;
    return lane;
  };
  const keyOf = ({ pod = NODE_LANE, place }: LiveMarble): string => (choice.kind === "pod" ? pod : place);
  const isShown = (marble: LiveMarble): boolean =>
    (choice.pod === undefined || marble.pod === choice.pod) &&
    (choice.filter?.(marble, marble.pod === undefined ? "node" : names.podName(marble.pod)) ?? true);
  const isNarrowed = choice.filter !== undefined || choice.pod !== undefined;
  return {
    list: () => (shown ??= orderedLanes(byKey, choice.kind, isNarrowed, names, laneOf)),
    add(marble) {
      if (isShown(marble)) laneOf(keyOf(marble)).marbles.push(marble);
    },
    remove(marble) {
      const key = keyOf(marble);
      const lane = byKey.get(key);
      if (lane === undefined || lane.marbles.items[lane.marbles.first]?.id !== marble.id) return;
      lane.marbles.shift();
      if (lane.marbles.size > 0) return;
      byKey.delete(key);
      shown = undefined;
    },
    clear() {
      byKey.clear();
      shown = undefined;
    },
    renamed() {
      for (const lane of byKey.values()) lane.label = labelOf(lane.key);
      shown = undefined;
    },
  };
}

function orderedLanes(
  byKey: ReadonlyMap<string, Lane>,
  kind: LaneKind,
  isNarrowed: boolean,
  names: LaneNames,
  laneOf: (key: string) => Lane,
): readonly Lane[] {
  const known = kind === "place" ? names.places : [NODE_LANE, ...names.pods];
  const expected = new Set(known);
  const others = [...byKey.values()].filter(({ key }) => !expected.has(key)).slice(-MAX_OTHERS);
  others.sort((a, b) => (a.label < b.label ? -1 : a.label > b.label ? 1 : 0));
  const standing = known.flatMap((key): readonly Lane[] => {
    if (!isNarrowed && kind === "pod") return [laneOf(key)];
    const lane = byKey.get(key);
    return lane === undefined ? [] : [lane];
  });
  return [...standing, ...others];
}
