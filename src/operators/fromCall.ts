/** Wraps a Promise API as a Call, only in sources and sinks: no Promise stands between a source and a sink. */
import { Observable } from "rxjs";
import { asFailure } from "../core/errors.ts";
import type { Call } from "../ports/call.ts";

/**
 * A cold Call from a function returning a Promise.
 *
 *     run resolves v    --(v|)
 *     run rejects       --#
 *
 * Cancels: aborts the signal of a call that is not settled on unsubscribe; a later settlement is ignored. Errors: rejections and throws, mapped by
 * asFailure. Bound: one request per subscription.
 */
export function fromCall<T>(run: (signal: AbortSignal) => Promise<T>): Call<T> {
  return new Observable<T>((subscriber) => {
    const abort = new AbortController();
    let isSettled = false;
    // In an async function a throw before the first promise is an ordinary rejection.
    const started = async () => run(abort.signal);
    started().then(
      (value) => {
        isSettled = true;
        subscriber.next(value);
        subscriber.complete();
      },
      (thrown: unknown) => {
        isSettled = true;
        subscriber.error(asFailure(thrown));
      },
    );
    return () => {
      // An abort creates an error with a stack and notifies listeners: too expensive for a settled call.
      if (!isSettled) abort.abort();
    };
  });
}
