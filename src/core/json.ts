/** Reads JSON from other programs or from an earlier version of rxlet. */

/** Parses the text; undefined when there is no text or it is not JSON. */
export function parseJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Nesting limit; no API object nests deeper. */
export const MAX_JSON_DEPTH = 500;

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
