/** A list that grows at its end and loses its oldest values. Removing one moves the others seldom: amortised constant time. */

export interface SlidingList<T> {
  /** Values from `first` on are in the list, oldest first. */
  readonly items: readonly T[];
  readonly first: number;
  readonly size: number;
  push(value: T): void;
  /** Removes and returns the oldest value; undefined when the list is empty. */
  shift(): T | undefined;
  clear(): void;
}

/** Removed values that the array keeps before it is copied. */
const SLACK = 1_024;

/** Makes an empty list; its user bounds it. */
export function createSlidingList<T>(): SlidingList<T> {
  let items: T[] = [];
  let first = 0;
  return {
    get items() {
      return items;
    },
    get first() {
      return first;
    },
    get size() {
      return items.length - first;
    },
    push: (value) => void items.push(value),
    shift() {
      if (first === items.length) return undefined;
      const value = items[first];
      first += 1;
      if (first === items.length) {
        items = [];
        first = 0;
      } else if (first >= SLACK && first * 2 >= items.length) {
        items = items.slice(first);
        first = 0;
      }
      return value;
    },
    clear() {
      items = [];
      first = 0;
    },
  };
}

/** Returns the index of the first item for which `isAtOrAfter` holds, in an ordered list; `items.length` when none. */
export function searchFrom<T>(
  { items, first }: Pick<SlidingList<T>, "items" | "first">,
  isAtOrAfter: (value: T) => boolean,
): number {
  let low = first;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isAtOrAfter(items[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
