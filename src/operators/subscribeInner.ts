/**
 * The only way in which operators here subscribe to an inner Observable. The inner belongs to the destination before
 * it emits, so that a synchronous inner can be stopped half-way, and `ended` means released: its teardown ran before
 * the next inner starts.
 */
import { EMPTY, type Observable, type Observer, type Subscriber, Subscription, throwError } from "rxjs";

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

type Outcome = { readonly kind: "completed" } | { readonly kind: "failed"; readonly thrown: unknown };

const COMPLETED: Outcome = { kind: "completed" };

/**
 * The observer and the subscription of an inner in one object: RxJS subscribes such an object as it is, and would wrap
 * a plain observer in two more. Each pod has some hundred of these, so they have no closures either.
 */
class Inner<R> extends Subscription implements Observer<R> {
  private readonly owner: Subscriber<never> | Subscriber<unknown>;
  private readonly observer: InnerObserver<R>;
  private outcome: Outcome | undefined = undefined;
  /** The teardown of the source belongs to this subscription, so it runs before the end is reported. */
  private isSubscribed = false;

  constructor(owner: Subscriber<never> | Subscriber<unknown>, observer: InnerObserver<R>) {
    super();
    this.owner = owner;
    this.observer = observer;
  }

  follow(source: Observable<R>): void {
    this.owner.add(this);
    source.subscribe(this);
    this.isSubscribed = true;
    if (this.closed) this.reportEnd();
  }

  next(value: R): void {
    if (this.isStopped()) return;
    try {
      this.observer.next(value);
    } catch (thrown) {
      this.owner.error(thrown);
    }
  }

  error(thrown: unknown): void {
    if (this.isStopped()) return;
    this.outcome = { kind: "failed", thrown };
    try {
      if (this.observer.failed === undefined) this.owner.error(thrown);
    } finally {
      this.unsubscribe();
    }
  }

  complete(): void {
    if (this.isStopped()) return;
    this.outcome = COMPLETED;
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
    try {
      super.unsubscribe();
    } finally {
      if (this.isSubscribed) this.reportEnd();
    }
  }

  private isStopped(): boolean {
    return this.closed || this.outcome !== undefined;
  }

  private reportEnd(): void {
    try {
      if (this.outcome?.kind === "completed") this.observer.ended();
      if (this.outcome?.kind === "failed") this.observer.failed?.(this.outcome.thrown);
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
  running.follow(inner$);
  return running;
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
