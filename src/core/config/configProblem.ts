/** Problems of a configuration as values: path and reason. All problems are reported at once. */

/** Keys and indexes from the root of a document. */
export type FieldPath = readonly (string | number)[];

/** A problem of one field. */
export interface ConfigProblem {
  readonly path: FieldPath;
  /** The reason without the path: `must not be negative, got -1`. */
  readonly reason: string;
}

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** Formats a path: `evictionHard["memory.available"]`, `registerWithTaints[0].effect`. */
export function formatFieldPath(path: FieldPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (!PLAIN_KEY.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}

/** Formats a value for a reason: scalars as they are, others by type. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint") return String(value);
  return Array.isArray(value) ? "a list" : "a map";
}
