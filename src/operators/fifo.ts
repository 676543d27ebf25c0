/** A first-in-first-out buffer with cheap ends; the bound is its user's. */

export interface Fifo<T> {
  readonly size: number;
  push(value: T): void;
  /** Takes the oldest; undefined when empty. */
  shift(): T | undefined;
}

/** Makes an empty buffer. */
export const createFifo = <T>(): Fifo<T> => new ListFifo<T>();

/** How many taken values the list may carry along. */
const MAX_TAKEN = 32;
const NOTHING: readonly never[] = [];

/** An emptied buffer holds no list: most of a node's are empty most of the time. */
class ListFifo<T> implements Fifo<T> {
  private items: (T | undefined)[] | undefined;
  private head = 0;

  get size(): number {
    return (this.items ?? NOTHING).length - this.head;
  }

  push(value: T): void {
    if (this.items === undefined) this.items = [value];
    else this.items.push(value);
  }

  shift(): T | undefined {
    if (this.items === undefined) return undefined;
    const value = this.items[this.head];
    this.items[this.head] = undefined;
    this.head += 1;
    if (this.head === this.items.length) this.keep(undefined);
    else if (this.head > MAX_TAKEN && this.head * 2 > this.items.length) this.keep(this.items.slice(this.head));
    return value;
  }

  private keep(items: (T | undefined)[] | undefined): void {
    this.items = items;
    this.head = 0;
  }
}
