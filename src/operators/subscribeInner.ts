/**
 * The only way in which operators here subscribe to an inner Observable. The inner belongs to the destination before
 * it emits, so that a synchronous inner can be stopped half-way, and `ended` means released: its teardown ran before
 * the next inner starts.
 */
import { EMPTY, Observable, type Observer, type Subscriber, Subscription, throwError } from "rxjs";

/** The observer of an inner Observable. Errors that these functions throw go to the destination. */
export interface InnerObserver<R> {
  next(value: R): void;
  /** The inner completed; its resources are not released yet. */
  complete?(): void;
  /** The inner completed and its teardown ran. Not called after an unsubscription or an error. */
  ended(): void;
  /** The inner errored and its teardown ran. Without this function the error goes to the destination. */
  failed?(thrown: unknown): void;
}

/** Objects with methods: each pod has some hundred of these, and closures would take more memory. */
class Inner<R> implements Observer<R> {
  private readonly owner: Subscriber<never> | Subscriber<unknown>;
  private readonly observer: InnerObserver<R>;
  private subscriber: Subscriber<R> | undefined;
  private outcome: "running" | "completed" | "failed" = "running";
  private thrown: unknown;

  constructor(owner: Subscriber<never> | Subscriber<unknown>, observer: InnerObserver<R>) {
    this.owner = owner;
    this.observer = observer;
  }

  /** Subscribes to the source with the subscriber that RxJS made for this observer. */
  follow(source: Observable<R>, subscriber: Subscriber<R>): void {
    this.owner.add(subscriber);
    source.subscribe(subscriber);
    if (this.outcome !== "running") this.reportEnd();
    else this.subscriber = subscriber;
  }

  next(value: R): void {
    try {
      this.observer.next(value);
    } catch (thrown) {
      this.owner.error(thrown);
    }
  }

  error(thrown: unknown): void {
    this.outcome = "failed";
    this.thrown = thrown;
    try {
      if (this.observer.failed === undefined) this.owner.error(thrown);
    } finally {
      this.reportEndAfterTeardown();
    }
  }

  complete(): void {
    this.outcome = "completed";
    try {
      this.observer.complete?.();
    } catch (thrown) {
      this.owner.error(thrown);
    } finally {
      this.reportEndAfterTeardown();
    }
  }

  /** The last teardown of the subscriber runs after all that the source added. */
  private reportEndAfterTeardown(): void {
    // Without a subscriber the source is still being subscribed, and follow() reports the end.
    this.subscriber?.add(() => this.reportEnd());
  }

  private reportEnd(): void {
    try {
      if (this.outcome === "completed") this.observer.ended();
      if (this.outcome === "failed") this.observer.failed?.(this.thrown);
    } catch (thrown) {
      this.owner.error(thrown);
    }
  }
}

/** Subscribes to the result of `inner` on behalf of `destination`. `EMPTY` costs nothing: it ends at once. */
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
  const running = new Inner<R>(destination, observer);
  // RxJS passes its subscriber to this function before the source emits.
  return new Observable<R>((subscriber) => running.follow(inner$, subscriber)).subscribe(running);
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
