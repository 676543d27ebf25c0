/**
 * Expands `$(NAME)` references in environment values, commands (of containers and probes), arguments and volume paths;
 * no other code does. Bound: the caller's `maxChars` for the result; the work is linear in input and result.
 * Upstream: third_party/forked/golang/expansion.
 */

const SIGN = "$";

/**
 * Replaces every `$(NAME)` in `text` with its value; undefined when the result exceeds `maxChars`. A name without a
 * value is kept as written, `$$` is a literal `$` (so `$$(NAME)` gives `$(NAME)`), any other `$` is kept.
 */
export function expand(
  text: string,
  valueOf: (name: string) => string | undefined,
  maxChars: number,
): string | undefined {
  if (!text.includes(SIGN)) return text.length > maxChars ? undefined : text;
  const parts: string[] = [];
  let chars = 0;
  let copied = 0;
  /** Replaces `text` from `start` to `end`. */
  const put = (start: number, end: number, replacement: string): void => {
    parts.push(text.slice(copied, start), replacement);
    chars += start - copied + replacement.length;
    copied = end;
  };
  for (let at = text.indexOf(SIGN); at !== -1 && chars <= maxChars; at = text.indexOf(SIGN, at)) {
    if (text[at + 1] === SIGN) {
      put(at, at + 2, SIGN);
      at += 2;
    } else if (text[at + 1] === "(") {
      const closing = text.indexOf(")", at + 2);
      // No later reference is closed either.
      if (closing === -1) break;
      const value = valueOf(text.slice(at + 2, closing));
      if (value !== undefined) put(at, closing + 1, value);
      at = closing;
      // The character after the sign is no sign either.
    } else at += 2;
  }
  if (chars + text.length - copied > maxChars) return undefined;
  return [...parts, text.slice(copied)].join("");
}
