/**
 * Looks up list entries by name, type or ID. A pod may have thousands of containers, volumes and conditions, so
 * searching a list for each of them would take quadratic time.
 */
import { perObject } from "./perObject.ts";

/** Shorter lists are searched, which is faster than an index and takes no memory. */
const FEW = 16;

/** Lookup of list entries by one of their members. */
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

/** Returns the first entry of that name. The list must not change afterwards, since its index is cached with it. */
export const findNamed = <T extends Named>(list: readonly T[] | undefined, name: string | undefined): T | undefined =>
  list && (byName.first(list, name) as T | undefined);

/** Returns all entries of that name, in list order. The list must not change afterwards. */
export const allNamed = <T extends Named>(list: readonly T[], name: string): readonly T[] =>
  byName.all(list, name) as readonly T[];

/** Returns the first entry of that type, such as a condition. The list must not change afterwards. */
export const findTyped = <T extends Typed>(list: readonly T[] | undefined, type: string): T | undefined =>
  list && (byType.first(list, type) as T | undefined);

/** Returns the first entry of that ID. The list must not change afterwards. */
export const findIdentified = <T extends Identified>(list: readonly T[] | undefined, id: string): T | undefined =>
  list && (byId.first(list, id) as T | undefined);
