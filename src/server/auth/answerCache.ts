/**
 * A cache of API server responses. Each entry has a lifetime that depends on its response. Grants and refusals have
 * separate bounds, each of which drops its oldest entry, so refusals never evict a grant. Concurrent requests with the
 * same key share one call. Owns its entries, which are keyed by a hash or an attribute set, never by a secret. When
 * memory is low, the entries and then the waiting calls are dropped (ports/shedding.ts).
 */
import { defer, of, tap } from "rxjs";
import type { MonotonicMs } from "../../core/ids.ts";
import { shareByKey } from "../../operators/shareByKey.ts";
import type { Call } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Shedding } from "../../ports/shedding.ts";
import { parkedCalls, type ParkingBounds } from "./parkedCalls.ts";

export interface AnswerCacheOptions<Q, A> {
  readonly clock: Pick<Clock, "monotonicMs">;
  /** Maximum number of entries, for grants and for refusals separately. */
  readonly maxEntries: number;
  isRefusal(answer: A): boolean;
  /** The client to charge for a call that waits on the API server. */
  clientOf(question: Q): string;
  readonly waiting: ParkingBounds;
  keyOf(question: Q): string;
  ask(question: Q): Call<A>;
  readonly observer?: CacheObserver<A>;
  /** Registers the cached answers and the waiting calls with the load shedder, under `name`. */
  readonly shedding?: Shedding | undefined;
  readonly name: string;
  /** Lifetime of an answer in milliseconds; 0 disables caching for it. */
  lifeMs(answer: A): number;
}

/** Observes lookups (`answered`) and the calls to the API server (`fetched`). */
export interface CacheObserver<A> {
  answered(isKnown: boolean, answer$: Call<A>): Call<A>;
  fetched(answer$: Call<A>): Call<A>;
}

const UNOBSERVED = { answered: <T>(_isKnown: boolean, answer$: T) => answer$, fetched: <T>(answer$: T) => answer$ };

/** A question and its key, which is a hash or a long text: it is computed once. */
interface Asked<Q> {
  readonly key: string;
  readonly question: Q;
}

interface Entry<A> {
  readonly answer: A;
  readonly until: number;
}

/**
 * Creates a cached lookup. Failures are not cached. Errors: those of `ask`, and ResourceExhausted when too many calls
 * wait.
 */
export function answerCache<Q, A>(options: AnswerCacheOptions<Q, A>): (question: Q) => Call<A> {
  const { clock, maxEntries, keyOf, ask, lifeMs, isRefusal, clientOf, observer = UNOBSERVED } = options;
  const { park, refuseAll } = parkedCalls(options.waiting);
  const granted = new Map<string, Entry<A>>();
  const refused = new Map<string, Entry<A>>();
  const { name, shedding } = options;
  shedding?.register({
    name,
    kind: "caches",
    shed: () => {
      const count = granted.size + refused.size;
      granted.clear();
      refused.clear();
      return count;
    },
  });
  shedding?.register({ name, kind: "requests", shed: refuseAll });
  const keep = (key: string, answer: A): void => {
    const now: MonotonicMs = clock.monotonicMs();
    granted.delete(key);
    refused.delete(key);
    if (lifeMs(answer) <= 0) return;
    const known = isRefusal(answer) ? refused : granted;
    known.set(key, { answer, until: now + lifeMs(answer) });
    const [oldest] = known.keys();
    if (known.size > maxEntries && oldest !== undefined) known.delete(oldest);
  };
  const calls = shareByKey<Asked<Q>, A>({
    keyOf: ({ key }) => key,
    start: ({ key, question }) => observer.fetched(ask(question)).pipe(tap((answer) => keep(key, answer))),
  });
  return (question) =>
    defer(() => {
      const key = keyOf(question);
      const entry = granted.get(key) ?? refused.get(key);
      const isKnown = entry !== undefined && entry.until > clock.monotonicMs();
      const answer$ = isKnown ? of(entry.answer) : park(clientOf(question), calls.join({ key, question }));
      return observer.answered(isKnown, answer$);
    });
}
