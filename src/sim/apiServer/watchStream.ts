/**
 * A watch: sends the changes since its version, then every change as it happens, with bookmarks, until its timeout.
 * Bounds: `buffer` undelivered events (a slow client is disconnected), three pending timers at most.
 */
import { Observable, type Subscription } from "rxjs";
import type { ApiResourceName } from "../../core/api/apiResources.ts";
import { createFifo } from "../../operators/fifo.ts";
import type { ApiWatchOptions } from "../../ports/apiServer.ts";
import type { Prng } from "../prng.ts";
import type { ApiWorld } from "./apiWorld.ts";
import type { Network } from "./network.ts";
import { connectionLost, expiredStatus } from "../../core/apiObjects/refusals.ts";
import { parseSelection } from "../../core/apiObjects/selectors.ts";
import { firstLines, lineOf, tooOldLine, type WatchLine } from "../../core/apiObjects/watchLines.ts";

/** The fate of an event of a watch. */
export type SimEventAction =
  | { readonly kind: "deliver" }
  /** Loses the event: a gap that no real server makes, for clients that should notice. */
  | { readonly kind: "drop" }
  | { readonly kind: "duplicate" }
  /** Delays the event and all later ones. */
  | { readonly kind: "delay"; readonly ms: number }
  /** Ends the connection before the event. */
  | { readonly kind: "cut" };

export interface WatchSettings {
  readonly network: Network;
  readonly rng: Prng;
  /** Returns the milliseconds from the server to the client for an event. */
  readonly latencyMs: () => number;
  readonly interceptEvent: (resource: ApiResourceName, event: WatchLine) => SimEventAction;
  /** Maximum number of undelivered events. */
  readonly buffer: number;
  readonly bookmarkPeriodMs: number;
  /** Open watches, through which the server ends them. */
  readonly open: Set<OpenWatch>;
}

/** An open watch of the server. */
export interface OpenWatch {
  readonly resource: ApiResourceName;
  /** Ends the watch as a broken connection does, or as a server that has forgotten its version. */
  end(how: "broken" | "expired"): void;
}

interface Parcel {
  readonly dueMs: number;
  /** The line; undefined at the end. */
  readonly line: WatchLine | undefined;
}

const SHORTEST_SERVER_TIMEOUT_MS = 1_800_000;
const LAST_BOOKMARK_MS = 2_000;
const MS_PER_SECOND = 1_000;

/** Opens a watch. Errors: 400 at the start; Unavailable if the connection breaks. */
export function watchStream(
  world: ApiWorld,
  settings: WatchSettings,
  resource: ApiResourceName,
  options: ApiWatchOptions,
): Observable<WatchLine> {
  return new Observable<WatchLine>((subscriber) => {
    const { network, open } = settings;
    const selection = parseSelection(resource, options);
    const lines = firstLines(world, resource, selection, options);
    const post = createPost(world, settings, (line) => {
      if (line !== undefined) subscriber.next(line);
      if (line === undefined || line.type === "ERROR") subscriber.complete();
    });
    const watch: OpenWatch = {
      resource,
      end(how) {
        if (how === "broken") subscriber.error(connectionLost());
        else post.send({ type: "ERROR", object: expiredStatus("watch expired") });
      },
    };
    open.add(watch);
    subscriber.add(() => open.delete(watch));
    subscriber.add(() => post.stop());
    subscriber.add(network.refused$.subscribe({ next: () => watch.end("broken") }));
    subscriber.add(network.up$.subscribe({ next: () => post.resume() }));
    if (lines === undefined) {
      post.send(tooOldLine(world, options));
      return;
    }
    for (const line of lines) post.send(line);
    const buffer = Math.max(settings.buffer, lines.length);
    const stop = world.cache(resource).listen(selection, (change) => {
      const line = lineOf(selection, change);
      if (line === undefined) return;
      if (post.size >= buffer) {
        watch.end("broken");
        return;
      }
      tampered(settings, resource, line, post, watch);
    });
    subscriber.add(stop);
    subscriber.add(keepAlive(world, settings, options, post));
  });
}

function tampered(settings: WatchSettings, resource: ApiResourceName, line: WatchLine, post: Post, watch: OpenWatch) {
  const action = settings.interceptEvent(resource, line);
  switch (action.kind) {
    case "drop":
      return;
    case "cut":
      watch.end("broken");
      return;
    case "duplicate":
      post.send(line);
      post.send(line);
      return;
    case "delay":
      post.send(line, action.ms);
      return;
    case "deliver":
      post.send(line);
  }
}

interface Post {
  readonly size: number;
  send(line: WatchLine | undefined, moreMs?: number): void;
  resume(): void;
  stop(): void;
}

/** Delivers lines in order, each after its latency, and none while the network is silent. */
function createPost(
  { clock }: ApiWorld,
  { network, latencyMs }: WatchSettings,
  deliver: (line: WatchLine | undefined) => void,
): Post {
  const waiting = createFifo<Parcel>();
  let next: Parcel | undefined;
  let lastDueMs = 0;
  let action: Subscription | undefined;
  let stopped = false;
  const arm = () => {
    if (action !== undefined || stopped || network.state === "silent") return;
    next ??= waiting.shift();
    if (next === undefined) return;
    action = clock.scheduler.schedule(arrive, next.dueMs - clock.monotonicMs());
  };
  const arrive = () => {
    action = undefined;
    if (network.state === "silent") return;
    while (next !== undefined && next.dueMs <= clock.monotonicMs() && !stopped) {
      const { line } = next;
      next = waiting.shift();
      deliver(line);
    }
    arm();
  };
  return {
    get size() {
      return waiting.size;
    },
    send(line, moreMs = 0) {
      lastDueMs = Math.max(lastDueMs, clock.monotonicMs() + latencyMs() + moreMs);
      waiting.push({ dueMs: lastDueMs, line });
      arm();
    },
    resume: arm,
    stop() {
      stopped = true;
      action?.unsubscribe();
    },
  };
}

/** Sends bookmarks and ends the watch at its timeout, one timer after the other. */
function keepAlive(world: ApiWorld, settings: WatchSettings, options: ApiWatchOptions, post: Post): Subscription {
  const { clock, store } = world;
  const asked = (options.timeoutSeconds ?? 0) * MS_PER_SECOND;
  const timeoutMs = asked > 0 ? asked : Math.round(SHORTEST_SERVER_TIMEOUT_MS * (1 + settings.rng.next()));
  const endsAtMs = clock.monotonicMs() + timeoutMs;
  const hasBookmarks = options.allowWatchBookmarks === true;
  const lastMs = endsAtMs - LAST_BOOKMARK_MS;
  const following = (): number => {
    const now = clock.monotonicMs();
    if (!hasBookmarks || now >= lastMs) return endsAtMs - now;
    return Math.min(settings.bookmarkPeriodMs, lastMs - now);
  };
  return clock.scheduler.schedule(function (this) {
    if (clock.monotonicMs() >= endsAtMs) {
      post.send(undefined);
      return;
    }
    // A real timer may fire a fraction of a millisecond early.
    if (hasBookmarks)
      post.send({ type: "BOOKMARK", object: { metadata: { resourceVersion: String(store.revision) } } });
    this.schedule(undefined, following());
  }, following());
}
