/**
 * Looks up entries of a list by name. A pod may have thousands of containers, volumes and conditions, and a search
 * through all of them for each of them takes time by their square.
 */
import { perObject } from "./perObject.ts";

/** Shorter lists are searched: that is faster than an index, and takes no memory. */
const FEW = 16;

/** The entries of a list by one of their members. */
interface Lookup<T> {
  first(list: readonly T[], key: unknown): T | undefined;
  all(list: readonly T[], key: unknown): readonly T[];
}

function lookupBy<T extends object>(keyOf: (entry: T) => unknown): Lookup<T> {
  const indexOf = perObject((list: readonly T[]) => Map.groupBy(list, keyOf));
  return {
    first: (list, key) =>
      list.length <= FEW ? list.find((entry) => keyOf(entry) === key) : indexOf(list).get(key)?.[0],
    all: (list, key) =>
      list.length <= FEW ? list.filter((entry) => keyOf(entry) === key) : (indexOf(list).get(key) ?? []),
  };
}

interface Named {
  readonly name?: string;
}
interface Typed {
  readonly type: string;
}
interface Identified {
  readonly id: string;
}

const byName = lookupBy<Named>(({ name }) => name);
const byType = lookupBy<Typed>(({ type }) => type);
const byId = lookupBy<Identified>(({ id }) => id);

/** The first entry of that name. The list must never change afterwards: its index is kept with it. */
export const findNamed = <T extends Named>(list: readonly T[] | undefined, name: string | undefined): T | undefined =>
  list && (byName.first(list, name) as T | undefined);

/** All entries of that name, in the order of the list, which must never change afterwards. */
export const allNamed = <T extends Named>(list: readonly T[], name: string): readonly T[] =>
  byName.all(list, name) as readonly T[];

/** The first entry of that type, as conditions have one. The list must never change afterwards. */
export const findTyped = <T extends Typed>(list: readonly T[] | undefined, type: string): T | undefined =>
  list && (byType.first(list, type) as T | undefined);

/** The first entry of that id. The list must never change afterwards. */
export const findIdentified = <T extends Identified>(list: readonly T[] | undefined, id: string): T | undefined =>
  list && (byId.first(list, id) as T | undefined);
