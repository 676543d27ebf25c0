/** Waits for figures whose source may not answer. */
import { catchError, type Observable, of } from "rxjs";
import { rethrowInvariant } from "../../core/invariant.ts";
import { deadline } from "../../operators/deadline.ts";
import type { Clock } from "../../ports/clock.ts";

/** Longest wait of the callers of a question, counted from when it was asked. */
const PATIENCE_MS = 1_000;

interface Question<T> {
  /** The answer; continues without its callers. */
  readonly answer$: Observable<T>;
  /** Milliseconds since it was asked; 0: it is asked now. */
  readonly askedForMs: number;
  /** Returns the last known answer. */
  readonly last: () => T;
  readonly clock: Clock;
}

/** Emits the answer, or the last known one after PATIENCE_MS of the question or when it fails. Errors: a broken invariant. */
export function patiently<T>({ answer$, askedForMs, last, clock }: Question<T>): Observable<T> {
  const leftMs = PATIENCE_MS - askedForMs;
  if (leftMs <= 0) return of(last());
  return answer$.pipe(
    deadline(leftMs, clock),
    catchError((thrown: unknown) => {
      rethrowInvariant(thrown);
      return of(last());
    }),
  );
}
