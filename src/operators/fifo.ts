/** A first-in-first-out buffer with cheap operations on both ends; its user bounds it. */

export interface Fifo<T> {
  readonly size: number;
  push(value: T): void;
  /** Removes and returns the oldest value; undefined if empty. */
  shift(): T | undefined;
}

/** Creates an empty buffer. */
export const createFifo = <T>(): Fifo<T> => new ListFifo<T>();

interface Link<T> {
  readonly value: T;
  next: Link<T> | undefined;
}

/** A linked list: an empty buffer costs next to nothing, and most buffers of a node are empty most of the time. */
class ListFifo<T> implements Fifo<T> {
  private oldest: Link<T> | undefined;
  private newest: Link<T> | undefined;
  size = 0;

  push(value: T): void {
    const link: Link<T> = { value, next: undefined };
    if (this.newest === undefined) this.oldest = link;
    else this.newest.next = link;
    this.newest = link;
    this.size += 1;
  }

  shift(): T | undefined {
    if (this.oldest === undefined) return undefined;
    const { value, next } = this.oldest;
    this.oldest = next;
    if (next === undefined) this.newest = undefined;
    this.size -= 1;
    return value;
  }
}
