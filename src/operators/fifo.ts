/** A first-in-first-out buffer with cheap operations on both ends; its user bounds it. */

export interface Fifo<T> {
  readonly size: number;
  push(value: T): void;
  /** Removes and returns the oldest value; undefined if empty. */
  shift(): T | undefined;
}

/** Creates an empty buffer. */
export const createFifo = <T>(): Fifo<T> => new ListFifo<T>();

/** Maximum number of removed values that the list still contains. */
const MAX_TAKEN = 32;
const NOTHING: readonly never[] = [];

/** An empty buffer holds no list: most buffers of a node are empty most of the time. */
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
