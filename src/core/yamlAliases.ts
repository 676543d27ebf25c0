/**
 * How much the aliases of a YAML document stand for, counted before anything is copied: `*a` a thousand times, or merged
 * with `<<`, makes gigabytes of a few kilobytes. Works on the parsed nodes by their shape, in one pass.
 */

/** The parts of a parsed node that matter here: collections have items, pairs a key and a value, aliases a source. */
interface YamlNode {
  readonly anchor?: string;
  readonly source?: unknown;
  readonly items?: readonly unknown[];
  readonly key?: unknown;
  readonly value?: unknown;
}

/** Values that all aliases of one document may stand for. */
export const MAX_ALIASED_NODES = 100_000;

const isNode = (value: unknown): value is YamlNode => typeof value === "object" && value !== null;

/** Whether the aliases of a document stand for more than MAX_ALIASED_NODES values, or one is within its own anchor. */
export function aliasesTooMuch(contents: unknown): boolean {
  const sizes = new Map<string, number>();
  let aliased = 0;
  const sizeOf = (value: unknown): number => {
    if (!isNode(value) || aliased > MAX_ALIASED_NODES) return 1;
    const { anchor, source, items, key } = value;
    if (typeof source === "string" && !("value" in value) && items === undefined) {
      // The parser reports an unknown anchor.
      const size = sizes.get(source) ?? 1;
      aliased += size;
      return size;
    }
    // An alias of a node that is still open never ends.
    if (anchor !== undefined) sizes.set(anchor, Number.POSITIVE_INFINITY);
    let size = 1;
    for (const item of items ?? []) size += sizeOf(item);
    if (items === undefined && key !== undefined) size += sizeOf(key) + sizeOf(value.value);
    if (anchor !== undefined) sizes.set(anchor, size);
    return size;
  };
  sizeOf(contents);
  return aliased > MAX_ALIASED_NODES;
}
