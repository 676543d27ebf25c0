/** Caches results by the immutable object they are computed from. */

/**
 * Memoizes a pure function of an immutable object: computed once per object, since a spec is replaced, never edited.
 * The result is garbage-collected with its object.
 */
export function perObject<K extends object, V>(compute: (of: K) => V): (of: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (of) => {
    let entry = known.get(of);
    if (entry === undefined) {
      entry = { value: compute(of) };
      known.set(of, entry);
    }
    return entry.value;
  };
}
