/**
 * Shell patterns for one path element or one label of a host name, read as Go's filepath.Match reads them: `*`, `?`,
 * `[a-z]`, `[^a-z]`, and `\` in front of a literal character. No other code matches wildcards.
 * Bound: MAX_PATTERN_CHARS times MAX_NAME_CHARS comparisons; a longer pattern or name matches nothing.
 */

/** File systems allow 255 bytes for a path element, DNS allows 63 for a label. */
export const MAX_NAME_CHARS = 255;
/** Allows for classes such as `[a-z0-9]` in place of single characters. */
export const MAX_PATTERN_CHARS = 1024;

type Range = readonly [low: string, high: string];
type Element =
  | { readonly kind: "star" }
  | { readonly kind: "any" }
  | { readonly kind: "literal"; readonly char: string }
  | { readonly kind: "class"; readonly isNegated: boolean; readonly ranges: readonly Range[] };

const SEPARATOR = "/";

/** Returns whether the whole name matches the pattern. A malformed pattern matches nothing. */
export function matchesGlob(pattern: string, name: string): boolean {
  if (pattern.length > MAX_PATTERN_CHARS || name.length > MAX_NAME_CHARS) return false;
  const elements = parse(pattern);
  return elements !== undefined && matches(elements, [...name]);
}

/** Retries only the last `*`: letting an earlier one match more characters cannot help. */
function matches(elements: readonly Element[], name: readonly string[]): boolean {
  let element = 0;
  let at = 0;
  let retry: { readonly element: number; readonly at: number } | undefined;
  for (let char = name[at]; char !== undefined; char = name[at]) {
    const current = elements[element];
    if (current?.kind === "star") {
      element += 1;
      retry = { element, at };
    } else if (current !== undefined && accepts(current, char)) {
      element += 1;
      at += 1;
    } else {
      if (retry === undefined || name[retry.at] === SEPARATOR) return false;
      retry = { element: retry.element, at: retry.at + 1 };
      ({ element, at } = retry);
    }
  }
  return elements.slice(element).every(({ kind }) => kind === "star");
}

function accepts(element: Exclude<Element, { kind: "star" }>, char: string): boolean {
  switch (element.kind) {
    case "any":
      return char !== SEPARATOR;
    case "literal":
      return char === element.char;
    case "class":
      return element.ranges.some(([low, high]) => isWithin(char, low, high)) !== element.isNegated;
  }
}

const codeOf = (char: string): number => char.codePointAt(0) ?? 0;
const isWithin = (char: string, low: string, high: string): boolean =>
  codeOf(low) <= codeOf(char) && codeOf(char) <= codeOf(high);

/** Parses a pattern; undefined when it is malformed. */
function parse(pattern: string): readonly Element[] | undefined {
  const chars = [...pattern];
  const elements: Element[] = [];
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at] ?? "";
    if (char === "*") {
      if (elements.at(-1)?.kind !== "star") elements.push({ kind: "star" });
    } else if (char === "?") {
      elements.push({ kind: "any" });
    } else if (char === "[") {
      const parsed = parseClass(chars, at + 1);
      if (parsed === undefined) return undefined;
      elements.push(parsed.element);
      at = parsed.closing;
    } else {
      if (char === "\\") at += 1;
      const literal = chars[at];
      if (literal === undefined) return undefined;
      elements.push({ kind: "literal", char: literal });
    }
  }
  return elements;
}

/** Parses a class from the character after its `[`; `closing` is the index of its `]`. */
function parseClass(
  chars: readonly string[],
  start: number,
): { readonly element: Element; readonly closing: number } | undefined {
  const isNegated = chars[start] === "^";
  const ranges: Range[] = [];
  let at = isNegated ? start + 1 : start;
  while (ranges.length === 0 || chars[at] !== "]") {
    const low = classChar(chars, at);
    if (low === undefined) return undefined;
    at = low.next;
    const high: ClassChar | undefined = chars[at] === "-" ? classChar(chars, at + 1) : low;
    if (high === undefined) return undefined;
    at = high.next;
    ranges.push([low.char, high.char]);
  }
  return { element: { kind: "class", isNegated, ranges }, closing: at };
}

interface ClassChar {
  readonly char: string;
  readonly next: number;
}

/** Reads one end of a range; `-` and `]` have to be escaped. */
function classChar(chars: readonly string[], at: number): ClassChar | undefined {
  if (chars[at] === "-" || chars[at] === "]") return undefined;
  const place = chars[at] === "\\" ? at + 1 : at;
  const char = chars[place];
  return char === undefined ? undefined : { char, next: place + 1 };
}
