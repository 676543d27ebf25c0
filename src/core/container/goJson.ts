/**
 * JSON text byte for byte as upstream writes it into annotations and hashes: compact, HTML characters escaped.
 * Key order is the caller's; `undefined` members are left out.
 */

const ESCAPED: ReadonlyMap<string, string> = new Map([
  ["<", "\\u003c"],
  [">", "\\u003e"],
  ["&", "\\u0026"],
  ["\u2028", "\\u2028"],
  ["\u2029", "\\u2029"],
]);

/** The JSON text of plain data. */
export function goJson(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (char) => ESCAPED.get(char) ?? char);
}

const CONTROL: ReadonlyMap<string, string> = new Map([
  ["\\u0007", "\\a"],
  ["\\u000b", "\\v"],
]);

/** A quoted string as upstream prints one: control characters as `\a`, `\v` or `\x1f`. */
export function goQuote(text: string): string {
  const quoted = JSON.stringify(text).replaceAll("\x7f", "\\x7f");
  return quoted.replace(/\\(?:u00[01][0-9a-f]|.)/g, (escape) => {
    return CONTROL.get(escape) ?? (escape.startsWith("\\u00") ? `\\x${escape.slice(4)}` : escape);
  });
}
