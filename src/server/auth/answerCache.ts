/**
 * Answers of the API server, each kept for as long as its kind may be, the oldest of its kind dropped at the bound: no
 * number of refusals drops an answer that lets somebody in. One request per question at a time. Owns its entries; they are keyed by what was asked, never by a secret itself.
 */
import { defer, finalize, of, shareReplay, tap } from "rxjs";
import type { MonotonicMs } from "../../core/ids.ts";
import type { Call } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Shedding } from "../../ports/shedding.ts";
import { parkedCalls, type ParkingBounds } from "./parkedCalls.ts";

export interface AnswerCacheOptions<Q, A> {
  readonly clock: Pick<Clock, "monotonicMs">;
  /** Of answers that let somebody in, and of refusals. */
  readonly maxEntries: number;
  isRefusal(answer: A): boolean;
  /** For whom a question is asked that nobody has an answer to yet. */
  clientOf(question: Q): string;
  readonly waiting: ParkingBounds;
  keyOf(question: Q): string;
  ask(question: Q): Call<A>;
  readonly observer?: CacheObserver<A>;
  /** Where the answers, and the calls that wait for one, are registered, and under which name. */
  readonly shedding?: Shedding | undefined;
  readonly name: string;
  /** How long an answer is good for, in milliseconds; 0 keeps nothing. */
  lifeMs(answer: A): number;
}

/** Sees every answer on its way: given to who asked, and asked for. */
export interface CacheObserver<A> {
  answered(isKnown: boolean, answer$: Call<A>): Call<A>;
  fetched(answer$: Call<A>): Call<A>;
}

const UNOBSERVED = { answered: <T>(_isKnown: boolean, answer$: T) => answer$, fetched: <T>(answer$: T) => answer$ };

interface Entry<A> {
  readonly answer: A;
  readonly until: number;
}

/** Makes a cache: the function answers from it, or asks. Failures are not kept. Errors: also ResourceExhausted, when too many wait. */
export function answerCache<Q, A>(options: AnswerCacheOptions<Q, A>): (question: Q) => Call<A> {
  const { clock, maxEntries, keyOf, ask, lifeMs, isRefusal, clientOf, observer = UNOBSERVED } = options;
  const { park, refuseAll } = parkedCalls(options.waiting);
  const granted = new Map<string, Entry<A>>();
  const refused = new Map<string, Entry<A>>();
  const underWay = new Map<string, Call<A>>();
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
  const asked = (key: string, question: Q): Call<A> => {
    const shared$ = observer.fetched(ask(question)).pipe(
      tap((answer) => keep(key, answer)),
      finalize(() => underWay.delete(key)),
      shareReplay({ bufferSize: 1, refCount: true }),
    );
    underWay.set(key, shared$);
    return shared$;
  };
  return (question) =>
    defer(() => {
      const key = keyOf(question);
      const entry = granted.get(key) ?? refused.get(key);
      const isKnown = entry !== undefined && entry.until > clock.monotonicMs();
      const answer$ = isKnown
        ? of(entry.answer)
        : park(
            clientOf(question),
            defer(() => underWay.get(key) ?? asked(key, question)),
          );
      return observer.answered(isKnown, answer$);
    });
}
