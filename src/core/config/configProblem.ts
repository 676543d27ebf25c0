/** What is wrong with a configuration, as values: where and why. Everything wrong is reported at once. */

/** Keys and indexes from the top of a document. */
export type FieldPath = readonly (string | number)[];

/** One fault. */
export interface ConfigProblem {
  readonly path: FieldPath;
  /** Why, without the path: `must not be negative, got -1`. */
  readonly reason: string;
}

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** A path as people write it: `evictionHard["memory.available"]`, `registerWithTaints[0].effect`. */
export function formatFieldPath(path: FieldPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (!PLAIN_KEY.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}

/** A value as it appears in a reason: scalars as they are, the rest by kind. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint") return String(value);
  return Array.isArray(value) ? "a list" : "a map";
}

/** True for a plain map as JSON and YAML give them. */
export const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
