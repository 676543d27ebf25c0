/** Reading JSON that somebody else, or an earlier version of us, has written. */

/** The value; undefined when there is no text, or it is not JSON. */
export function parseJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** No object of the API nests deeper. */
export const MAX_JSON_DEPTH = 500;

const isCollection = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Whether a value nests deeper than MAX_JSON_DEPTH, which functions that call themselves may not survive. */
export function isTooDeep(value: unknown): boolean {
  let level = [value].filter(isCollection);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MAX_JSON_DEPTH) return true;
    level = [...new Set(level.flatMap((each) => Object.values(each).filter(isCollection)))];
  }
  return false;
}

/** Whether it is a JSON object: neither null nor a list. */
export const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
