/**
 * Problems of object fields, in the wording of the API server: `Required value`, `Invalid value: "x": reason`, and so
 * on. The field path is separate from the text: `spec.containers[0].resources.limits[cpu]`. Upstream: field.Error of
 * apimachinery.
 */
import { closestName } from "../config/closestName.ts";

/** A problem of one field. A warning does not stop the pod. */
export interface FieldProblem {
  readonly severity: "error" | "warning";
  /** JSON path from the top of the object; empty for the object itself. */
  readonly field: string;
  readonly reason: string;
}

/** The result of validators: lazy, in field order. */
export type FieldProblems = Iterable<FieldProblem>;

const MAX_VALUE_LENGTH = 200;

function show(value: unknown): string {
  const text = typeof value === "bigint" ? String(value) : (JSON.stringify(value) ?? "null");
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}...` : text;
}

const error = (field: string, reason: string): FieldProblem => ({ severity: "error", field, reason });
const withDetail = (text: string, detail: string): string => (detail === "" ? text : `${text}: ${detail}`);

/** A missing field. */
export const required = (field: string, detail = ""): FieldProblem =>
  error(field, withDetail("Required value", detail));

/** A value that breaks a rule. The text truncates long values. */
export const invalid = (field: string, value: unknown, detail: string): FieldProblem =>
  error(field, withDetail(`Invalid value: ${show(value)}`, detail));

/** Edit distance up to which a value counts as misspelt; smaller for short values. */
const misspellingEdits = ({ length }: string): number => Math.min(2, Math.floor(length / 3));

/** A value outside a fixed list. Differs from upstream: suggests the value that was probably meant. */
export function unsupported(field: string, value: unknown, supported: readonly string[]): FieldProblem {
  const list = supported.map((text) => `"${text}"`).join(", ");
  const mayBeMisspelt = typeof value === "string" && supported.length > 1;
  const meant = mayBeMisspelt ? closestName(value, supported, misspellingEdits(value)) : undefined;
  const hint = meant === undefined ? "" : `; did you mean "${meant}"?`;
  return error(field, `Unsupported value: ${show(value)}: supported values: ${list}${hint}`);
}

/** A value that must be unique. */
export const duplicate = (field: string, value: unknown): FieldProblem =>
  error(field, `Duplicate value: ${show(value)}`);

/** A field that must not be set here. */
export const forbidden = (field: string, detail: string): FieldProblem => error(field, withDetail("Forbidden", detail));

/**
 * A reference to something that does not exist. Differs from upstream: the detail names the list that lacks it, since
 * the value alone (`Not found: "data"`) does not.
 */
export const notFound = (field: string, value: unknown, detail: string): FieldProblem =>
  error(field, withDetail(`Not found: ${show(value)}`, detail));

/** The detail of `notFound` for a volume name. */
export const NO_VOLUME = "spec.volumes has no volume of this name";

/** A value that exceeds `maxBytes`. */
export const tooLong = (field: string, maxBytes: number): FieldProblem =>
  error(field, `Too long: may not be more than ${maxBytes} bytes`);

/** A list that exceeds `max` items. */
export const tooMany = (field: string, count: number, max: number): FieldProblem =>
  error(field, `Too many: ${count}: must have at most ${max} items`);

/** A value of the wrong JSON type. */
export const wrongType = (field: string, detail: string): FieldProblem => error(field, detail);

/** A problem that does not stop the pod. */
export const warning = (field: string, reason: string): FieldProblem => ({ severity: "warning", field, reason });

/** Returns an `invalid` problem for each detail. */
export const invalidEach = (field: string, value: unknown, details: readonly string[]): readonly FieldProblem[] =>
  details.map((detail) => invalid(field, value, detail));

/** Drops the violations at, above or below a field that could not be decoded: they would only repeat that fault. */
export const besideFaults = (faults: readonly FieldProblem[], violations: FieldProblems): readonly FieldProblem[] => {
  const unread = faults.filter(({ severity }) => severity === "error").map(({ field }) => field);
  return [...violations].filter(
    ({ field }) => !unread.some((other) => isWithin(field, other) || isWithin(other, field)),
  );
};

const isWithin = (field: string, outer: string): boolean =>
  outer === "" || field === outer || field.startsWith(`${outer}.`) || field.startsWith(`${outer}[`);
