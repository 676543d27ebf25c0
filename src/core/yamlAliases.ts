/**
 * Counts the values that the aliases of a YAML document expand to, before any copy is made: `*a` a thousand times, or
 * merged with `<<`, turns a few kilobytes into gigabytes. Visits the parsed nodes by their shape, in one pass.
 */

/** The relevant members of a parsed node: collections have items, pairs a key and a value, aliases a source. */
interface YamlNode {
  readonly anchor?: string;
  readonly source?: unknown;
  readonly items?: readonly unknown[];
  readonly key?: unknown;
  readonly value?: unknown;
}

/** Maximum number of values that all aliases of one document may expand to. */
export const MAX_ALIASED_NODES = 100_000;
/** Maximum number of aliases in one document: the parser looks for the source of each among all of them. */
export const MAX_ALIASES = 1000;

const isNode = (value: unknown): value is YamlNode => typeof value === "object" && value !== null;

/**
 * Returns why the aliases of a document are not expanded: there are more than MAX_ALIASES, or they expand to more than
 * MAX_ALIASED_NODES values, as an alias inside its own anchor does. Returns undefined when they are.
 */
export function aliasFault(contents: unknown): string | undefined {
  const sizes = new Map<string, number>();
  let aliased = 0;
  let aliases = 0;
  const sizeOf = (value: unknown): number => {
    if (!isNode(value)) return 1;
    const { anchor, source, items, key } = value;
    if (typeof source === "string" && !("value" in value) && items === undefined) {
      // The parser reports an unknown anchor.
      const size = sizes.get(source) ?? 1;
      aliased += size;
      aliases += 1;
      return size;
    }
    // An alias inside its own anchor never ends.
    if (anchor !== undefined) sizes.set(anchor, Number.POSITIVE_INFINITY);
    let size = 1;
    for (const item of items ?? []) size += sizeOf(item);
    if (items === undefined && key !== undefined) size += sizeOf(key) + sizeOf(value.value);
    if (anchor !== undefined) sizes.set(anchor, size);
    return size;
  };
  sizeOf(contents);
  if (aliases > MAX_ALIASES) return `holds more than ${MAX_ALIASES} aliases`;
  return aliased > MAX_ALIASED_NODES ? `its aliases stand for more than ${MAX_ALIASED_NODES} values` : undefined;
}
