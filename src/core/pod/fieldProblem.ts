/**
 * What is wrong with one field of an object, in the wording of the API server: `Required value`, `Invalid value: "x":
 * why`, and so on. The field's path stands beside the text, `spec.containers[0].resources.limits[cpu]`.
 * Counterpart: apimachinery's field.Error.
 */
import { closestName } from "../config/closestName.ts";

/** One fault of one field. A warning does not stop the pod. */
export interface FieldProblem {
  readonly severity: "error" | "warning";
  /** JSON path from the top of the object; empty for the object itself. */
  readonly field: string;
  readonly reason: string;
}

/** What validators return: lazily, in the order of the fields. */
export type FieldProblems = Iterable<FieldProblem>;

const MAX_VALUE_LENGTH = 200;

function show(value: unknown): string {
  const text = typeof value === "bigint" ? String(value) : (JSON.stringify(value) ?? "null");
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}...` : text;
}

const error = (field: string, reason: string): FieldProblem => ({ severity: "error", field, reason });
const withDetail = (text: string, detail: string): string => (detail === "" ? text : `${text}: ${detail}`);

/** A field that must be there is not. */
export const required = (field: string, detail = ""): FieldProblem =>
  error(field, withDetail("Required value", detail));

/** A value that breaks a rule; long values are cut in the text. */
export const invalid = (field: string, value: unknown, detail: string): FieldProblem =>
  error(field, withDetail(`Invalid value: ${show(value)}`, detail));

/** The edits between a value and its misspelling: fewer for short values. */
const misspellingEdits = ({ length }: string): number => Math.min(2, Math.floor(length / 3));

/** A value outside a fixed list. Differs from upstream: it names the value that was probably meant. */
export function unsupported(field: string, value: unknown, supported: readonly string[]): FieldProblem {
  const list = supported.map((text) => `"${text}"`).join(", ");
  const mayBeMisspelt = typeof value === "string" && supported.length > 1;
  const meant = mayBeMisspelt ? closestName(value, supported, misspellingEdits(value)) : undefined;
  const hint = meant === undefined ? "" : `; did you mean "${meant}"?`;
  return error(field, `Unsupported value: ${show(value)}: supported values: ${list}${hint}`);
}

/** A value that must be unique and is not. */
export const duplicate = (field: string, value: unknown): FieldProblem =>
  error(field, `Duplicate value: ${show(value)}`);

/** A field that may not be set here. */
export const forbidden = (field: string, detail: string): FieldProblem => error(field, withDetail("Forbidden", detail));

/**
 * A reference to something that does not exist. Differs from upstream: the detail says which list lacks it, since the
 * value alone (`Not found: "data"`) does not.
 */
export const notFound = (field: string, value: unknown, detail: string): FieldProblem =>
  error(field, withDetail(`Not found: ${show(value)}`, detail));

/** The detail of `notFound` for the name of a volume. */
export const NO_VOLUME = "spec.volumes has no volume of this name";

/** A value of more bytes than allowed. */
export const tooLong = (field: string, maxBytes: number): FieldProblem =>
  error(field, `Too long: may not be more than ${maxBytes} bytes`);

/** A list of more items than allowed. */
export const tooMany = (field: string, count: number, max: number): FieldProblem =>
  error(field, `Too many: ${count}: must have at most ${max} items`);

/** A value of the wrong JSON type. */
export const wrongType = (field: string, detail: string): FieldProblem => error(field, detail);

/** A problem that does not stop the pod. */
export const warning = (field: string, reason: string): FieldProblem => ({ severity: "warning", field, reason });

/** `invalid` for each complaint. */
export const invalidEach = (field: string, value: unknown, details: readonly string[]): readonly FieldProblem[] =>
  details.map((detail) => invalid(field, value, detail));

/**
 * The violations of an object that was decoded with faults: those of fields at, above or below a field that could not
 * be read would only repeat its fault.
 */
export const besideFaults = (faults: readonly FieldProblem[], violations: FieldProblems): readonly FieldProblem[] => {
  const unread = faults.filter(({ severity }) => severity === "error").map(({ field }) => field);
  return [...violations].filter(
    ({ field }) => !unread.some((other) => isWithin(field, other) || isWithin(other, field)),
  );
};

const isWithin = (field: string, outer: string): boolean =>
  outer === "" || field === outer || field.startsWith(`${outer}.`) || field.startsWith(`${outer}[`);
