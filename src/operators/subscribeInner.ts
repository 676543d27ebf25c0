/**
 * The one way operators here subscribe: the inner belongs to the destination before it emits, so a synchronous inner
 * can be stopped half-way, and "ended" means released: its teardown ran before the next one starts.
 */
import { EMPTY, type Observable, Subscriber, Subscription, throwError } from "rxjs";

/** The observer of an inner Observable. Errors that these functions throw go to the destination. */
export interface InnerObserver<R> {
  next(value: R): void;
  /** It said it is complete; it still holds what it holds. */
  complete?(): void;
  /** It completed and its teardown ran. Not called when it was unsubscribed or failed. */
  ended(): void;
  /** It failed and its teardown ran. Without this function the destination gets the error, and ends. */
  failed?(thrown: unknown): void;
}

/** A single object without closures: each pod has some hundred of these. */
class InnerSubscriber<R> extends Subscriber<R> {
  private readonly owner: Subscriber<never> | Subscriber<unknown>;
  private readonly observer: InnerObserver<R>;
  private outcome: "running" | "completed" | "failed" = "running";
  private thrown: unknown;
  /** The teardown of the source belongs to this subscriber, so it runs before `ended` and `failed` are called. */
  private isHeld = false;

  constructor(owner: Subscriber<never> | Subscriber<unknown>, observer: InnerObserver<R>) {
    // Deprecated for callers of RxJS; a safe subscriber and closures instead would cost memory for each pod.
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    super();
    this.owner = owner;
    this.observer = observer;
  }

  protected override _next(value: R): void {
    try {
      this.observer.next(value);
    } catch (thrown) {
      this.owner.error(thrown);
    }
  }

  protected override _error(thrown: unknown): void {
    this.outcome = "failed";
    this.thrown = thrown;
    try {
      if (this.observer.failed === undefined) this.owner.error(thrown);
    } finally {
      this.unsubscribe();
    }
  }

  protected override _complete(): void {
    this.outcome = "completed";
    try {
      this.observer.complete?.();
    } catch (thrown) {
      this.owner.error(thrown);
    } finally {
      this.unsubscribe();
    }
  }

  override unsubscribe(): void {
    if (this.closed) return;
    super.unsubscribe();
    if (this.isHeld) this.tellEnd();
  }

  /** All that the source holds has been added. */
  held(): void {
    this.isHeld = true;
    if (this.closed) this.tellEnd();
  }

  private tellEnd(): void {
    try {
      if (this.outcome === "completed") this.observer.ended();
      if (this.outcome === "failed") this.observer.failed?.(this.thrown);
    } catch (thrown) {
      this.owner.error(thrown);
    }
  }
}

/** Subscribes to what `inner` returns on behalf of `destination`. `EMPTY` costs nothing: it is over at once. */
export function subscribeInner<R>(
  destination: Subscriber<never> | Subscriber<unknown>,
  inner: () => Observable<R>,
  observer: InnerObserver<R>,
): Subscription {
  if (destination.closed) return Subscription.EMPTY;
  const inner$ = called(inner);
  if (inner$ === EMPTY) {
    endAtOnce(destination, observer);
    return Subscription.EMPTY;
  }
  const subscriber = new InnerSubscriber<R>(destination, observer);
  destination.add(subscriber);
  inner$.subscribe(subscriber);
  subscriber.held();
  return subscriber;
}

/** Turns a thrown error into an Observable that errors. */
function called<R>(inner: () => Observable<R>): Observable<R> {
  try {
    return inner();
  } catch (thrown) {
    return throwError(() => thrown);
  }
}

function endAtOnce(destination: Subscriber<never> | Subscriber<unknown>, observer: InnerObserver<unknown>): void {
  try {
    observer.complete?.();
    if (!destination.closed) observer.ended();
  } catch (thrown) {
    destination.error(thrown);
  }
}
