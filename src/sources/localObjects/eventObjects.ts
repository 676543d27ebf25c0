/**
 * Event objects of a standalone node, which has no API server to write them to. Owned by its creator. Bound: MAX_EVENTS
 * events, each kept for an hour after its last occurrence, as in an API server.
 */
import { ignoreElements, type Observable, Subject, tap } from "rxjs";
import { apiEvent, type ApiEvent, type CountedEvent } from "../../core/apiEvent.ts";
import type { MonotonicMs } from "../../core/ids.ts";
import type { Clock } from "../../ports/clock.ts";

export interface EventObjects {
  /** Keeps every event. Never emits; passes the errors of `events$`. */
  store(events$: Observable<CountedEvent>): Observable<never>;
  /** Oldest change first. */
  current(): readonly ApiEvent[];
  /** Emits after each event. */
  readonly changes$: Observable<void>;
}

const MAX_EVENTS = 1_000;
const LIFE_MS = 3_600_000;

/** Creates the store of the node `host`. */
export function createEventObjects(host: string, clock: Pick<Clock, "monotonicMs">): EventObjects {
  const kept = new Map<string, { readonly event: ApiEvent; readonly at: MonotonicMs }>();
  const changed$ = new Subject<void>();
  const forgetOld = (): void => {
    const now = clock.monotonicMs();
    for (const [key, { at }] of kept) {
      if (kept.size <= MAX_EVENTS && now - at < LIFE_MS) return;
      kept.delete(key);
    }
  };
  return {
    store: (events$) =>
      events$.pipe(
        tap((counted) => {
          const event = apiEvent(counted, host);
          const { namespace, name } = event.metadata;
          const key = `${namespace}/${name}`;
          kept.delete(key);
          kept.set(key, { event, at: clock.monotonicMs() });
          forgetOld();
          changed$.next();
        }),
        ignoreElements(),
      ),
    current: () => {
      forgetOld();
      return [...kept.values()].map(({ event }) => event);
    },
    changes$: changed$.asObservable(),
  };
}
