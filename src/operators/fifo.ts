/** A first-in-first-out buffer with cheap ends; the bound is its user's. */

export interface Fifo<T> {
  readonly size: number;
  push(value: T): void;
  /** Takes the oldest; undefined when empty. */
  shift(): T | undefined;
}

/** Makes an empty buffer. */
export function createFifo<T>(): Fifo<T> {
  let items: (T | undefined)[] = [];
  let head = 0;
  return {
    get size() {
      return items.length - head;
    },
    push(value) {
      items.push(value);
    },
    shift() {
      if (head === items.length) return undefined;
      const value = items[head];
      items[head] = undefined;
      head += 1;
      if (head > 32 && head * 2 > items.length) {
        items = items.slice(head);
        head = 0;
      }
      return value;
    },
  };
}
