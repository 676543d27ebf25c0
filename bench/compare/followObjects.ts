/** Follows objects of a cluster: a list, the watch after it, and both again whenever the watch ends. */
import { type KubeConfig, Watch } from "@kubernetes/client-node";

interface Named {
  readonly metadata?: { readonly name?: string };
}

interface Listed<T> {
  readonly items: readonly T[];
  readonly metadata?: { readonly resourceVersion?: string };
}

/** A collection, and callbacks for each object of it that is new, changed or gone. */
export interface Followed<T> {
  /** Path of the collection at the API server. */
  readonly path: string;
  /** Selectors of the watch: those of `list`. */
  readonly query?: Readonly<Record<string, string>>;
  readonly list: () => Promise<Listed<T>>;
  readonly seen: (object: T) => void;
  readonly gone: (name: string) => void;
}

/** Follows a collection. Resolves once the first list is seen. The result ends the watch. */
export async function followObjects<T extends Named>(config: KubeConfig, followed: Followed<T>): Promise<() => void> {
  const there = new Set<string>();
  const nameOf = (object: T): string => object.metadata?.name ?? "";
  const seen = (type: string, object: T): void => {
    const name = nameOf(object);
    if (type === "DELETED") {
      there.delete(name);
      return followed.gone(name);
    }
    there.add(name);
    followed.seen(object);
  };
  let watch: AbortController | undefined;
  let isClosed = false;
  /** A watch without events ends after some time: another one follows, from a list of what is there meanwhile. */
  const follow = async (): Promise<void> => {
    const { items, metadata } = await followed.list();
    const names = new Set(items.map(nameOf));
    for (const name of [...there]) {
      if (names.has(name)) continue;
      there.delete(name);
      followed.gone(name);
    }
    for (const object of items) seen("ADDED", object);
    const query = { ...followed.query, resourceVersion: metadata?.resourceVersion ?? "" };
    watch = await new Watch(config).watch(followed.path, query, seen, () => {
      if (!isClosed) void follow();
    });
  };
  await follow();
  return () => {
    isClosed = true;
    watch?.abort();
  };
}
