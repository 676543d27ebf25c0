/** The state of the page: the latest messages as signals, and the marbles. `take` is its only writer of these. */
import { type Signal, signal } from "@preact/signals";
import type {
  LiveGraph,
  LiveMarble,
  LiveMarbles,
  LiveMessage,
  LiveNode,
  LivePlaceFlow,
  LivePod,
} from "../core/live/liveMessages.ts";
import { createMarbles, type Marbles } from "./marbles.ts";
import { NO_HISTORY, type NodeHistory, withNode } from "./model/nodeHistory.ts";
import { createNodeTime } from "./model/nodeTime.ts";
import { compareNames } from "./model/podTroubles.ts";
import { type Route, routeOf } from "./model/route.ts";
import { shownText } from "./model/shownText.ts";
import type { Connection } from "./stream/liveStream.ts";

/** Throughput of a place: values since the message before, and per second. */
export type Flow = LivePlaceFlow & { readonly perSecond: number };

export interface PageState {
  readonly connection: Signal<Connection>;
  readonly graph: Signal<LiveGraph | undefined>;
  readonly flow: Signal<ReadonlyMap<string, Flow>>;
  /** Marbles by `writerKey` between the latest two flows. */
  readonly writes: Signal<ReadonlyMap<string, number>>;
  /** By name; undefined before the first message. */
  readonly pods: Signal<readonly LivePod[] | undefined>;
  readonly node: Signal<LiveNode | undefined>;
  readonly history: Signal<NodeHistory>;
  readonly route: Signal<Route>;
  /** The node's time, a few times a second, for texts. */
  readonly clock: Signal<number>;
  readonly marbles: Marbles;
  /** The node's time now. */
  now(): number;
  take(message: LiveMessage): void;
}

/** Returns the key of a part and a place that it writes to. */
export const writerKey = (part: string, place: string): string => `${part} > ${place}`;

/** Pairs of parts and places that are counted. */
const MAX_WRITERS = 2_000;

function count(counts: Map<string, number>, key: string): void {
  const known = counts.get(key);
  if (known !== undefined || counts.size < MAX_WRITERS) counts.set(key, (known ?? 0) + 1);
}

const MAX_MARBLE_TEXT = 200;
const MAX_MARBLE_NAME = 64;

/** Makes the state of a page that shows `hash`. */
export function createPageState(hash: string): PageState {
  const time = createNodeTime();
  const now = (): number => time.at(Date.now());
  const graph = signal<LiveGraph | undefined>(undefined);
  const flow = signal<ReadonlyMap<string, Flow>>(new Map());
  const pods = signal<readonly LivePod[] | undefined>(undefined);
  const node = signal<LiveNode | undefined>(undefined);
  const history = signal(NO_HISTORY);
  const marbles = createMarbles(now);
  const writes = signal<ReadonlyMap<string, number>>(new Map());
  let flowAt: number | undefined;
  let written = new Map<string, number>();
  const takeFlow = (at: number, places: readonly LivePlaceFlow[]): void => {
    const seconds = flowAt === undefined || at <= flowAt ? 1 : (at - flowAt) / 1000;
    flowAt = at;
    writes.value = written;
    written = new Map();
    flow.value = new Map(places.map((place) => [place.name, { ...place, perSecond: place.count / seconds }]));
  };
  return {
    connection: signal<Connection>("connecting"),
    graph,
    flow,
    writes,
    pods,
    node,
    history,
    route: signal(routeOf(hash)),
    clock: signal(now()),
    marbles,
    now,
    take(message) {
      if (message.kind !== "marbles") time.observe(message.at, Date.now());
      switch (message.kind) {
        case "graph":
          graph.value = message;
          return;
        case "flow":
          takeFlow(message.at, message.places);
          return;
        case "pods":
          pods.value = message.pods.toSorted(compareNames);
          marbles.takePods(pods.value);
          return;
        case "node":
          node.value = message;
          history.value = withNode(history.value, message);
          return;
        case "marbles":
          for (const { part, place } of message.marbles) count(written, writerKey(part ?? "", place));
          return takeMarbles(marbles, message);
      }
    },
  };
}

const takeMarbles = (marbles: Marbles, { marbles: added, dropped }: LiveMarbles): void =>
  marbles.add(added.map(shownMarble), dropped);

/** Texts of marbles are drawn often: they are made harmless once. Details are made so when they are shown. */
const shownMarble = (marble: LiveMarble): LiveMarble => ({
  ...marble,
  ...(marble.part === undefined ? {} : { part: shownText(marble.part, MAX_MARBLE_NAME) }),
  place: shownText(marble.place, MAX_MARBLE_NAME),
  text: shownText(marble.text, MAX_MARBLE_TEXT),
});
