/**
 * The one way operators here subscribe: the inner belongs to the destination before it emits, so a synchronous inner
 * can be stopped half-way, and "ended" means released: its teardown ran before the next one starts.
 */
import { type Observable, Subscriber, type Subscription } from "rxjs";

/** Who listens to an inner Observable. What these functions throw goes to the destination's error channel. */
export interface InnerObserver<R> {
  next(value: R): void;
  /** It said it is complete; it still holds what it holds. */
  complete?(): void;
  /** It completed and its teardown ran. Not called when it was unsubscribed or failed. */
  ended(): void;
  /** It failed and its teardown ran. Without this function the destination gets the error, and ends. */
  failed?(thrown: unknown): void;
}

type Outcome = { readonly kind: "running" | "completed" } | { readonly kind: "failed"; readonly thrown: unknown };

/** Subscribes to what `inner` returns on behalf of `destination`. */
export function subscribeInner<R>(
  destination: Subscriber<never> | Subscriber<unknown>,
  inner: () => Observable<R>,
  observer: InnerObserver<R>,
): Subscription {
  let outcome: Outcome = { kind: "running" };
  const attempt = (work: () => void) => {
    try {
      work();
    } catch (thrown) {
      destination.error(thrown);
    }
  };
  const subscriber = new Subscriber<R>({
    next: (value) => attempt(() => observer.next(value)),
    error: (thrown: unknown) => {
      outcome = { kind: "failed", thrown };
      if (observer.failed === undefined) destination.error(thrown);
    },
    complete: () => {
      outcome = { kind: "completed" };
      attempt(() => observer.complete?.());
    },
  });
  if (destination.closed) {
    subscriber.unsubscribe();
    return subscriber;
  }
  destination.add(subscriber);
  try {
    inner().subscribe(subscriber);
  } catch (thrown) {
    subscriber.error(thrown);
  }
  subscriber.add(() => {
    const final: Outcome = outcome;
    if (final.kind === "completed") attempt(() => observer.ended());
    if (final.kind === "failed") attempt(() => observer.failed?.(final.thrown));
  });
  return subscriber;
}
