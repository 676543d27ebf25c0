/**
 * A piece of node state with exactly one writer. Readers take `value` or follow `changes$`. Update a cell before
 * emitting the event that announces the change.
 */
import { BehaviorSubject, type Observable, ReplaySubject } from "rxjs";
import { invariant } from "../core/invariant.ts";

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

/** Methods belong to the class, not to each cell: a pod has a dozen cells. */
class ValueCell<T> implements Cell<T> {
  private readonly subject: BehaviorSubject<T>;
  private isAnnouncing = false;
  readonly changes$: Observable<T>;

  constructor(initial: T) {
    this.subject = new BehaviorSubject<T>(initial);
    this.changes$ = this.subject.asObservable();
  }

  get value(): T {
    return this.subject.value;
  }

  set(value: T): void {
    if (value === this.subject.value) return;
    // A change inside the announcement of another would reach later subscribers first: old after new.
    invariant(!this.isAnnouncing, "a cell is set while it announces a value");
    this.isAnnouncing = true;
    try {
      this.subject.next(value);
    } finally {
      this.isAnnouncing = false;
    }
  }
}

/** Makes a cell. Setting the same value (===) again is no change. */
export const createCell = <T>(initial: T): Cell<T> => new ValueCell(initial);

/** A cell that has no value at first: until then its `changes$` emits nothing. */
export interface LateCell<T> extends ReadonlyCell<T | undefined> {
  readonly changes$: Observable<T>;
  set(value: T): void;
}

class LateValueCell<T> implements LateCell<T> {
  private readonly subject = new ReplaySubject<T>(1);
  readonly changes$: Observable<T> = this.subject.asObservable();
  value: T | undefined;

  set(value: T): void {
    this.value = value;
    this.subject.next(value);
  }
}

/** Makes one. */
export const createLateCell = <T>(): LateCell<T> => new LateValueCell<T>();
