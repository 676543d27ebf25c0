/** Results kept with the immutable object they were computed from. */

/**
 * A pure function of an object that never changes, computed once per object: a spec is replaced, never edited. The
 * result goes when the object goes.
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
