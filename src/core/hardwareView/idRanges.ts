/** Ids of devices in a few characters: `nic-0`, `nic-1`, `nic-2` become `nic-[0-2]`. */

/** Maximum number of ranges per list. */
export const MAX_IDS = 32;
/** Plugins may give ids of any length. */
const MAX_ID = 128;
/** Longer numbers, and those with leading zeros, are part of the name. */
const NUMBERED = /^(.*?)(0|[1-9]\d{0,8})$/s;

/** Returns the ids with consecutive numbers joined, in the order in which each name first appears. */
export function idRanges(ids: Iterable<string>): readonly string[] {
  const byName = new Map<string, number[]>();
  const plain: string[] = [];
  for (const id of ids) {
    const [, name, digits] = (id.length <= MAX_ID ? NUMBERED.exec(id) : undefined) ?? [];
    if (name === undefined || digits === undefined) {
      plain.push(id.length <= MAX_ID ? id : `${id.slice(0, MAX_ID - 1)}…`);
      continue;
    }
    const numbers = byName.get(name);
    if (numbers === undefined) byName.set(name, [Number(digits)]);
    else numbers.push(Number(digits));
  }
  return [...[...byName].flatMap(([name, numbers]) => rangesOf(name, numbers)), ...plain];
}

function rangesOf(name: string, numbers: readonly number[]): readonly string[] {
  const ranges: { readonly first: number; last: number }[] = [];
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const range = ranges.at(-1);
    if (range !== undefined && number <= range.last + 1) range.last = number;
    else ranges.push({ first: number, last: number });
  }
  return ranges.map(({ first, last }) => (first === last ? `${name}${first}` : `${name}[${first}-${last}]`));
}
