/** The marbles that the page keeps: the newest, with their causes and effects. Bound: MAX_MARBLES. */
import type { LiveMarble } from "../../core/live/liveMessages.ts";
import { createSlidingList, type SlidingList } from "./slidingList.ts";

export const MAX_MARBLES = 40_000;
/** Effects of a marble that are kept. */
const MAX_EFFECTS = 64;

export interface MarbleStore {
  /** Oldest first. */
  readonly all: Pick<SlidingList<LiveMarble>, "items" | "first" | "size">;
  /** Marbles that the node did not send. */
  readonly dropped: number;
  /** Counts up with each change. */
  readonly version: number;
  /** Adds marbles, oldest first. Skips those it has; forgets all others when the node has begun to count anew. */
  add(marbles: readonly LiveMarble[], dropped: number): void;
  find(id: number): LiveMarble | undefined;
  effectsOf(id: number): readonly LiveMarble[];
}

/** Hears of each marble that comes and goes, in order. */
export interface MarbleListener {
  added(marble: LiveMarble): void;
  removed(marble: LiveMarble): void;
  cleared(): void;
}

/** Makes an empty store. */
export function createMarbleStore(listener: MarbleListener, bound = MAX_MARBLES): MarbleStore {
  const all = createSlidingList<LiveMarble>();
  const byId = new Map<number, LiveMarble>();
  const effects = new Map<number, LiveMarble[]>();
  let dropped = 0;
  let version = 0;
  let newest: LiveMarble | undefined;
  const clear = (): void => {
    all.clear();
    byId.clear();
    effects.clear();
    newest = undefined;
    listener.cleared();
  };
  const insert = (marble: LiveMarble): void => {
    all.push(marble);
    byId.set(marble.id, marble);
    newest = marble;
    const { cause } = marble;
    if (cause !== undefined && byId.has(cause)) {
      const known = effects.get(cause);
      if (known === undefined) effects.set(cause, [marble]);
      else if (known.length < MAX_EFFECTS) known.push(marble);
    }
    listener.added(marble);
  };
  return {
    all,
    get dropped() {
      return dropped;
    },
    get version() {
      return version;
    },
    add(marbles, more) {
      for (const marble of marbles) {
        if (newest !== undefined && marble.id <= newest.id) {
          // A repeated marble is no later than the newest; a later one with a smaller id is of a restarted node.
          if (marble.at <= newest.at) continue;
          clear();
        }
        insert(marble);
        if (all.size <= bound) continue;
        const oldest = all.shift() as LiveMarble;
        byId.delete(oldest.id);
        effects.delete(oldest.id);
        listener.removed(oldest);
      }
      dropped += more;
      version += 1;
    },
    find: (id) => byId.get(id),
    effectsOf: (id) => effects.get(id) ?? [],
  };
}

/** Causes of a marble that are followed. */
const MAX_CHAIN = 32;

/** Returns the marble's causes, nearest first, as far as the store has them. */
export function causesOf(store: Pick<MarbleStore, "find">, marble: LiveMarble): readonly LiveMarble[] {
  const chain: LiveMarble[] = [];
  for (let next = marble.cause; next !== undefined && chain.length < MAX_CHAIN; ) {
    const cause = store.find(next);
    // A cause is older, so that no chain is a circle.
    if (cause === undefined || cause.id >= (chain.at(-1) ?? marble).id) break;
    chain.push(cause);
    next = cause.cause;
  }
  return chain;
}

/** Returns the marble with its causes and effects. */
export const chainOf = (store: Pick<MarbleStore, "find" | "effectsOf">, marble: LiveMarble): readonly LiveMarble[] => [
  marble,
  ...causesOf(store, marble),
  ...effectTree(store, marble),
];

/** Effects in the tree of a marble that are shown. */
const MAX_TREE = 64;

/** Returns the marble's effects and their effects, level by level, at most MAX_TREE. */
export function effectTree(store: Pick<MarbleStore, "effectsOf">, marble: LiveMarble): readonly LiveMarble[] {
  const found: LiveMarble[] = [];
  for (let at = -1; at < found.length && found.length < MAX_TREE; at += 1) {
    const of = at < 0 ? marble : (found[at] as LiveMarble);
    found.push(...store.effectsOf(of.id).slice(0, MAX_TREE - found.length));
  }
  return found;
}
