/** An AbortSignal as a notifier. */
import { Observable } from "rxjs";

/**
 * Emits once when the signal is aborted, at once if it already is, then completes.
 *
 *     signal    ------abort
 *     output    ------(x|)
 *
 * Cancels: stops listening. Errors: none. Bound: one listener per subscription.
 */
export function aborted(signal: AbortSignal): Observable<void> {
  return new Observable<void>((subscriber) => {
    const onAbort = (): void => {
      subscriber.next();
      subscriber.complete();
    };
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener("abort", onAbort, { once: true });
    return () => signal.removeEventListener("abort", onAbort);
  });
}
