/**
 * The live view of a node, shared by all who watch it: one subscription to the node, the last marbles, and the latest of
 * each other message. It works while somebody watches and LINGER_MS longer, so that a watcher who comes back finds the
 * marbles in between. Bounds: those of the marble log; MAX_WATCHERS.
 */
import { concat, defer, EMPTY, interval, map, merge, type Observable, share, tap, timer } from "rxjs";
import {
  type LiveFlow,
  type LiveGraph,
  type LiveMessage,
  type LiveNode,
  MAX_BATCH,
} from "../../core/live/liveMessages.ts";
import { createMarbleLog, type MarbleLog } from "../../core/live/marbleLog.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LiveSource } from "../../ports/liveSource.ts";

export interface LiveViewOptions {
  readonly source: LiveSource;
  readonly clock: Clock;
  readonly node: string;
  readonly version: string;
  /** Messages about the node itself; works while it is subscribed. */
  readonly node$: Observable<LiveNode>;
}

/** The newest messages for one watcher. */
export interface LiveWatch {
  /** Emits after something new can be taken. */
  readonly changes$: Observable<void>;
  /** Takes what is new since the last time: one message of each kind at most; empty when nothing is. */
  take(): readonly LiveMessage[];
}

export interface LiveView {
  /** Watches from the marble after `after` on; undefined: from the last MAX_BATCH on. */
  watch(after: number | undefined): LiveWatch;
}

const LINGER_MS = 30_000;
const FLOW_PERIOD_MS = 1_000;
/** The kinds of which only the latest message counts, in the order in which they are sent. */
const LATEST = ["pods", "flow", "node"] as const;

type Latest = Extract<LiveMessage, { readonly kind: (typeof LATEST)[number] }>;

/** Memory of the view while somebody watches. */
interface Known {
  readonly log: MarbleLog;
  readonly latest: Map<Latest["kind"], Latest>;
}

/** Creates the view. */
export function createLiveView(options: LiveViewOptions): LiveView {
  const { source, clock } = options;
  let known: Known = fresh(source);
  const news$ = feed(options, () => known).pipe(
    share({
      resetOnRefCountZero: () => timer(LINGER_MS, clock.scheduler).pipe(tap(() => (known = fresh(source)))),
    }),
  );
  return {
    watch(after) {
      let cursor = after;
      let isNew = true;
      const sent = new Map<Latest["kind"], Latest>();
      return {
        changes$: news$,
        take() {
          const messages: LiveMessage[] = isNew ? [graph(options)] : [];
          isNew = false;
          // A number from before a restart of the node lies ahead: its marbles are gone.
          if (cursor === undefined || cursor > known.log.last) cursor = Math.max(0, known.log.last - MAX_BATCH);
          const { marbles, dropped } = known.log.after(cursor);
          if (marbles.length > 0 || dropped > 0) messages.push({ kind: "marbles", marbles, dropped });
          cursor = marbles.at(-1)?.id ?? known.log.last;
          for (const kind of LATEST) {
            const message = known.latest.get(kind);
            if (message === undefined || sent.get(kind) === message) continue;
            sent.set(kind, message);
            messages.push(message);
          }
          return messages;
        },
      };
    },
  };
}

const fresh = ({ parts }: LiveSource): Known => ({ log: createMarbleLog(parts), latest: new Map() });

const graph = ({ source: { parts, places }, clock, node, version }: LiveViewOptions): LiveGraph => ({
  ...{ kind: "graph", at: clock.wallTime(), node, version, places },
  parts: parts.map(({ name, reads, writes }) => ({ name, reads, writes })),
});

/** Keeps what is known up to date, and emits after each change. */
function feed({ source, clock, node$ }: LiveViewOptions, known: () => Known): Observable<void> {
  const counts = new Map<string, number>();
  let isPast = false;
  // The steps of the past come at once.
  const marbles$ = concat(
    defer(() => ((isPast = true), EMPTY)),
    merge(
      source.drafts$,
      defer(() => ((isPast = false), EMPTY)),
    ),
  ).pipe(
    tap((draft) => {
      if (!isPast) counts.set(draft.place, (counts.get(draft.place) ?? 0) + 1);
      known().log.add(draft);
    }),
  );
  const pods$ = source.pods$.pipe(map((pods): Latest => ({ kind: "pods", at: clock.wallTime(), pods })));
  const flow$ = interval(FLOW_PERIOD_MS, clock.scheduler).pipe(
    map((): Latest => flow(source, counts, clock.wallTime())),
    tap(() => counts.clear()),
  );
  const latest$ = merge(pods$, flow$, node$).pipe(tap((message) => known().latest.set(message.kind, message)));
  return merge(marbles$, latest$).pipe(map(() => undefined));
}

function flow({ queues, places }: LiveSource, counts: ReadonlyMap<string, number>, at: number): LiveFlow {
  const figures = new Map(queues().map(({ name, depth, dropped }) => [name, { depth, dropped }]));
  return {
    ...{ kind: "flow", at },
    places: places.flatMap(({ name }) => {
      const [count, queue] = [counts.get(name) ?? 0, figures.get(name)];
      return count > 0 || queue !== undefined ? [{ name, count, ...queue }] : [];
    }),
  };
}
