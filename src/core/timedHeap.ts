/**
 * A binary heap ordered by due time, then by insertion. Each item stores its index, so that removal costs O(log n) like
 * insertion and cancelled items leave at once.
 */

/** The index of an item that is not in the heap. */
export const NOT_PENDING = -1;

/** An item of a heap; only the heap writes these fields. */
export interface TimedItem {
  dueMs: number;
  order: number;
  place: number;
}

const isBefore = (a: TimedItem, b: TimedItem): boolean =>
  a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);

/** Items ordered by their due time. */
export class TimedHeap<T extends TimedItem> {
  private readonly items: T[] = [];
  private scheduled = 0;

  /** Number of items in the heap. */
  get size(): number {
    return this.items.length;
  }

  /** Returns the item due first without removing it. */
  first(): T | undefined {
    return this.items[0];
  }

  /** Adds an item that is not in the heap. */
  push(item: T, dueMs: number): void {
    item.dueMs = dueMs;
    item.order = this.scheduled;
    this.scheduled += 1;
    this.items.push(item);
    this.rise(item, this.items.length - 1);
  }

  /** Removes an item; does nothing for an item that is not in the heap. */
  remove(item: T): void {
    const { place } = item;
    if (place === NOT_PENDING) return;
    item.place = NOT_PENDING;
    const last = this.items.pop();
    if (last === undefined || last === item) return;
    this.rise(last, place);
    this.sink(last);
  }

  private put(item: T, place: number): void {
    this.items[place] = item;
    item.place = place;
  }

  private rise(item: T, from: number): void {
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = this.items[above];
      if (parent === undefined || !isBefore(item, parent)) break;
      this.put(parent, place);
      place = above;
    }
    this.put(item, place);
  }

  private sink(item: T): void {
    let place = item.place;
    for (;;) {
      const left = this.items[2 * place + 1];
      const right = this.items[2 * place + 2];
      const child = left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
      if (child === undefined || !isBefore(child, item)) break;
      const below = child.place;
      this.put(child, place);
      place = below;
    }
    this.put(item, place);
  }
}
