/**
 * The parts of a kubelet: what runs, which cells and queues each part reads, and which ones it writes. A part receives
 * exactly the places it lists, readable or writable as listed, so that the list is true. Each cell has one writer.
 */
import { ignoreElements, type Observable } from "rxjs";
import { invariant } from "../core/invariant.ts";
import type { Queue } from "../operators/createQueue.ts";
import { staged } from "../operators/loopStage.ts";
import type { ReadFace } from "./nodeState.ts";

/** A part, or an owner of cells, with the names of its cells and queues. */
export interface PlaceUser {
  readonly name: string;
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

/** A running part. Its `run$` works while it is subscribed and errors only on a broken invariant. */
export interface Part extends PlaceUser {
  readonly run$: Observable<never>;
}

type Readable<P> = P extends Queue<infer T> ? Pick<Queue<T>, "values$"> : ReadFace<P>;
type Writable<P> = P extends Queue<infer T> ? Pick<Queue<T>, "push"> : P;

/** The places a part may use. */
export type Places<All, Read extends keyof All, Write extends keyof All> = {
  readonly [N in Read]: Readable<All[N]>;
} & {
  readonly [N in Write]: Writable<All[N]>;
};

interface Access<Read, Write> {
  readonly reads?: readonly Read[];
  readonly writes?: readonly Write[];
}

/** Makes parts, and keeps their list in the order in which they were made. */
export interface Parts<Cells extends object, Queues extends object> {
  readonly list: readonly Part[];
  /** The parts and the owners, so that each cell which is written has its writer here. */
  readonly users: readonly PlaceUser[];
  /** Adds a part that runs. */
  run<Read extends keyof (Cells & Queues) = never, Write extends keyof (Cells & Queues) = never>(
    name: string,
    access: Access<Read, Write>,
    start: (places: Places<Cells & Queues, Read, Write>) => Observable<unknown>,
  ): void;
  /** Gives cells to an owner that is not a part of its own: parts use it, and it works as long as they do. */
  owner<Name extends keyof Cells>(name: string, ...cells: readonly Name[]): Pick<Cells, Name>;
}

/** Starts with no parts. A second writer of a cell is a broken invariant. */
export function createParts<Cells extends object, Queues extends object>(
  cells: Cells,
  queues: Queues,
): Parts<Cells, Queues> {
  type All = Cells & Queues;
  const all: All = { ...cells, ...queues };
  const list: Part[] = [];
  const users: PlaceUser[] = [];
  const writers = new Map<PropertyKey, string>();
  const take = (name: string, cell: PropertyKey): void => {
    const other = writers.get(cell);
    invariant(other === undefined, `${name} and ${String(other)} both write the cell ${String(cell)}`);
    writers.set(cell, name);
  };
  const only = (names: readonly PropertyKey[]): object =>
    Object.fromEntries(Object.entries(all).filter(([place]) => names.includes(place)));
  return {
    list,
    users,
    run(name, { reads = [], writes = [] }, start) {
      for (const place of writes) if (place in cells) take(name, place);
      const run$ = start(only([...reads, ...writes]) as Parameters<typeof start>[0]).pipe(
        ignoreElements(),
        staged({ kind: `part_${name}`, text: name }),
      );
      const part = { name, reads: reads.map(String), writes: writes.map(String), run$ };
      list.push(part);
      users.push(part);
    },
    owner(name, ...owned) {
      for (const cell of owned) take(name, cell);
      users.push({ name, reads: [], writes: owned.map(String) });
      return only(owned) as Pick<Cells, (typeof owned)[number]>;
    },
  };
}
