/** A table of cells with one writer: readers follow one key without being woken by the others. */
import { Observable, Subject } from "rxjs";

/** Read side. */
export interface ReadonlyKeyedCell<K, V> {
  get(key: K): V | undefined;
  /** Ordered by insertion. */
  keys(): readonly K[];
  /** Current values in insertion order. */
  values(): readonly V[];
  readonly size: number;
  /** The current value of `key` if there is one, then every new one. Completes never; a deletion is not announced. */
  changes$(key: K): Observable<V>;
  /** Emits the key after any change of the table, a deletion too. */
  readonly anyChange$: Observable<K>;
  /** Emits the key of each new value before the followers react to it. For those who watch; costs nothing without them. */
  readonly sets$: Observable<K>;
}

/** Write side; keep it with the owner. */
export interface KeyedCell<K, V> extends ReadonlyKeyedCell<K, V> {
  set(key: K, value: V): void;
  delete(key: K): void;
}

/** Makes an empty table. Bound: the owner deletes keys; followers of a key keep one Subject alive while subscribed. */
export function createKeyedCell<K, V>(): KeyedCell<K, V> {
  const values = new Map<K, V>();
  const followers = new Map<K, Subject<V>>();
  const any = new Subject<K>();
  const sets = new Subject<K>();
  return {
    get: (key) => values.get(key),
    keys: () => [...values.keys()],
    values: () => [...values.values()],
    get size() {
      return values.size;
    },
    anyChange$: any.asObservable(),
    sets$: sets.asObservable(),
    changes$: (key) =>
      new Observable<V>((subscriber) => {
        const subject = followers.get(key) ?? new Subject<V>();
        followers.set(key, subject);
        // The subscription precedes the current value: its effects may change the value, or other followers.
        subscriber.add(subject.subscribe(subscriber));
        const current = values.get(key);
        if (current !== undefined) subscriber.next(current);
        return () => {
          if (!subject.observed && followers.get(key) === subject) followers.delete(key);
        };
      }),
    set(key, value) {
      values.set(key, value);
      if (sets.observed) sets.next(key);
      followers.get(key)?.next(value);
      any.next(key);
    },
    delete(key) {
      if (values.delete(key)) any.next(key);
    },
  };
}
