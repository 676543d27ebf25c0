/**
 * JSON text that equals upstream's byte for byte, for annotations and hashes: compact, HTML characters escaped. Keeps
 * the caller's key order and omits `undefined` members.
 */

const ESCAPED: ReadonlyMap<string, string> = new Map([
  ["<", "\\u003c"],
  [">", "\\u003e"],
  ["&", "\\u0026"],
  ["\u2028", "\\u2028"],
  ["\u2029", "\\u2029"],
]);

/** Returns plain data as JSON text. */
export function goJson(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (char) => ESCAPED.get(char) ?? char);
}

const CONTROL: ReadonlyMap<string, string> = new Map([
  ["\\u0007", "\\a"],
  ["\\u000b", "\\v"],
]);

/** Quotes a string like Go's strconv.Quote: control characters as `\a`, `\v` or `\x1f`. */
export function goQuote(text: string): string {
  const quoted = JSON.stringify(text).replaceAll("\x7f", "\\x7f");
  return quoted.replace(/\\(?:u00[01][0-9a-f]|.)/g, (escape) => {
    return CONTROL.get(escape) ?? (escape.startsWith("\\u00") ? `\\x${escape.slice(4)}` : escape);
  });
}
