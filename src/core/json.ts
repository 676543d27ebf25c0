/** Reads JSON from other programs or from an earlier version of rxlet. */

/** Parses the text; undefined when there is no text, it is not JSON, or it nests deeper than MAX_JSON_DEPTH. */
export function parseJson(text: string | undefined): unknown {
  if (text === undefined || isTextTooDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Nesting limit; no API object nests deeper. */
export const MAX_JSON_DEPTH = 500;

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Returns whether JSON text nests deeper than MAX_JSON_DEPTH, before anything is made of it. */
export function isTextTooDeep(text: string): boolean {
  if (text.length <= MAX_JSON_DEPTH) return false;
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isInString = !isInString;
    else if (isInString) at += code === BACKSLASH ? 1 : 0;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) depth += 1;
    else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
    if (depth > MAX_JSON_DEPTH) return true;
  }
  return false;
}

const isCollection = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Returns whether a value nests deeper than MAX_JSON_DEPTH; recursive functions could overflow the stack on it. */
export function isTooDeep(value: unknown): boolean {
  let level = [value].filter(isCollection);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MAX_JSON_DEPTH) return true;
    level = [...new Set(level.flatMap((each) => Object.values(each).filter(isCollection)))];
  }
  return false;
}

/** Returns whether the value is a JSON object: neither null nor an array. */
export const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
