/**
 * The keys of a parsed YAML document. The parser's own search for duplicates takes time by the square of the keys of a
 * map, so that readers switch it off and use this one. Visits the parsed nodes by their shape, in one pass.
 */

/** The relevant members of a parsed node: collections have items, pairs a key and a value, scalars a value. */
interface YamlNode {
  readonly items?: readonly unknown[];
  readonly key?: unknown;
  readonly value?: unknown;
  readonly type?: unknown;
  readonly range?: readonly number[] | null;
}

/** A key that its map has before. */
export interface DuplicateKey {
  readonly name: string;
  /** Position of the key in the text. */
  readonly offset: number | undefined;
}

/** Duplicates reported of one document. */
const MAX_DUPLICATE_KEYS = 20;

const isNode = (value: unknown): value is YamlNode => typeof value === "object" && value !== null;

/** Returns the first MAX_DUPLICATE_KEYS keys that repeat another key of their map, in the order of the text. */
export function duplicateKeys(contents: unknown): readonly DuplicateKey[] {
  const found: DuplicateKey[] = [];
  const left: unknown[] = [contents];
  while (left.length > 0 && found.length < MAX_DUPLICATE_KEYS) {
    const node = left.pop();
    if (!isNode(node)) continue;
    const names = new Set<string>();
    const below: unknown[] = [];
    for (const item of node.items ?? []) {
      if (!isNode(item) || !("key" in item)) below.push(item);
      else {
        below.push(item.key, item.value);
        if (!isNode(item.key) || item.key.items !== undefined || !("value" in item.key)) continue;
        const { value, type, range } = item.key;
        const name = String(value);
        // A map may merge several others.
        if (names.has(name) && !(name === "<<" && type === "PLAIN")) found.push({ name, offset: range?.[0] });
        names.add(name);
      }
    }
    for (const each of below.reverse()) left.push(each);
  }
  return found.slice(0, MAX_DUPLICATE_KEYS);
}
