/**
 * Counts the values that the aliases of a YAML document expand to, before any copy is made: `*a` a thousand times, or
 * merged with `<<`, turns a few kilobytes into gigabytes. Visits the parsed nodes by their shape, in one pass.
 */

/** The relevant members of a parsed node: collections have items, pairs a key and a value, aliases a source. */
interface YamlNode {
  readonly anchor?: string;
  readonly source?: unknown;
  readonly range?: readonly number[] | null;
  readonly items?: readonly unknown[];
  readonly key?: unknown;
  readonly value?: unknown;
}

/** Why the aliases of a document are not expanded, and the offset of the alias in the text. */
export interface AliasFault {
  readonly reason: string;
  readonly offset: number | undefined;
}

/** Maximum number of values that all aliases of one document may expand to. */
export const MAX_ALIASED_NODES = 100_000;
/** Maximum number of aliases in one document: the parser looks for the source of each among all of them. */
export const MAX_ALIASES = 1000;

const MAX_SHOWN_NAME = 60;

const isNode = (value: unknown): value is YamlNode => typeof value === "object" && value !== null;

/**
 * Returns the first alias that prevents the expansion: it has no anchor before it, it is one of more than MAX_ALIASES, or
 * it brings the expansion to more than MAX_ALIASED_NODES values, as an alias inside its own anchor does. Returns undefined
 * when there is none.
 */
export function aliasFault(contents: unknown): AliasFault | undefined {
  const sizes = new Map<string, number>();
  let aliased = 0;
  let aliases = 0;
  let fault: AliasFault | undefined;
  const sizeOfAlias = (source: string, offset: number | undefined): number => {
    const size = sizes.get(source);
    aliased += size ?? 0;
    aliases += 1;
    const reason = size === undefined ? withoutAnchor(source) : excess(aliases, aliased);
    if (reason !== undefined) fault ??= { reason, offset };
    return size ?? 0;
  };
  const sizeOf = (value: unknown): number => {
    if (!isNode(value)) return 1;
    const { anchor, source, items, key, range } = value;
    const isAlias = typeof source === "string" && !("value" in value) && items === undefined;
    if (isAlias) return sizeOfAlias(source, range?.[0]);
    // An alias inside its own anchor never ends.
    if (anchor !== undefined) sizes.set(anchor, Number.POSITIVE_INFINITY);
    let size = 1;
    for (const item of items ?? []) size += sizeOf(item);
    if (items === undefined && key !== undefined) size += sizeOf(key) + sizeOf(value.value);
    if (anchor !== undefined) sizes.set(anchor, size);
    return size;
  };
  sizeOf(contents);
  return fault;
}

const withoutAnchor = (name: string): string =>
  `the alias ${JSON.stringify(`*${name.slice(0, MAX_SHOWN_NAME)}`)} has no anchor before it`;

function excess(aliases: number, aliased: number): string | undefined {
  if (aliases > MAX_ALIASES) return `holds more than ${MAX_ALIASES} aliases`;
  return aliased > MAX_ALIASED_NODES ? `its aliases stand for more than ${MAX_ALIASED_NODES} values` : undefined;
}
