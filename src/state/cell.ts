/**
 * A piece of node state with exactly one writer. Readers take `value` or follow `changes$`. Update a cell before
 * emitting the event that announces the change.
 */
import { BehaviorSubject, type Observable } from "rxjs";

/** Read side of a cell. */
export interface ReadonlyCell<T> {
  readonly value: T;
  /** The current value at once, then every new one. Never completes, never errors. */
  readonly changes$: Observable<T>;
}

/** Write side; keep it with the owner. */
export interface Cell<T> extends ReadonlyCell<T> {
  set(value: T): void;
}

/** Makes a cell. Setting the same value (===) again is no change. */
export function createCell<T>(initial: T): Cell<T> {
  const subject = new BehaviorSubject<T>(initial);
  return {
    get value() {
      return subject.value;
    },
    changes$: subject.asObservable(),
    set(value) {
      if (value !== subject.value) subject.next(value);
    },
  };
}
