/**
 * Strict decoding of a JSON value into an API object by the generated schema, with all problems and their paths. Field
 * names are case-sensitive, `null` counts as absent, quantities become canonical. Upstream: the JSON serializer behind
 * UniversalDecoder of legacyscheme. Unknown fields are ignored as there, with a warning. Bounds: the depth of the
 * schema, MAX_PROBLEMS problems.
 */
import { podSchema } from "../../../gen/podSchema.ts";
import { closestName } from "../../config/closestName.ts";
import { quantityHint } from "../../meantQuantity.ts";
import { formatQuantity, parseQuantity } from "../../quantity.ts";
import { parseInstant } from "../../time/civilTime.ts";
import { type FieldProblem, warning, wrongType } from "../fieldProblem.ts";
import { isJsonObject } from "../../json.ts";

/**
 * A decoded object. Unknown fields and fields of the wrong type are dropped; a list item of the wrong type becomes an
 * empty item.
 */
export interface Decoded<T> {
  readonly value: T;
  readonly problems: readonly FieldProblem[];
}

/** Maximum number of problems to collect for one object. */
const MAX_PROBLEMS = 100;
const INT32_MAX = 2 ** 31 - 1;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Options for the wording of problems. */
export interface DecodeOptions {
  /** Whether values are secret, so that problems show only their types. */
  readonly hidesValues?: boolean;
}

/** Decodes `input` as an object of the schema type `type`. The caller guarantees that `T` matches `type`. */
export function decodeObject<T>(
  type: string,
  input: unknown,
  path = "",
  { hidesValues = false }: DecodeOptions = {},
): Decoded<T> {
  const problems: FieldProblem[] = [];
  const describe = hidesValues ? (value: unknown) => `a ${typeof value}` : kindOf;
  const value = decodeStruct(type, input, path, (problem) => {
    if (problems.length < MAX_PROBLEMS) problems.push(problem(describe));
  });
  return { value: (value ?? {}) as T, problems };
}

type Describe = (value: unknown) => string;
/** Takes a function to avoid formatting problems beyond the limit. */
type Report = (problem: (describe: Describe) => FieldProblem) => void;

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a map";
  return typeof value === "string"
    ? `the string ${JSON.stringify(value.slice(0, 60))}`
    : `the ${typeof value} ${value}`;
}

const mustBe =
  (path: string, wanted: string, value: unknown, hint = "") =>
  (describe: Describe): FieldProblem =>
    wrongType(path, `must be ${wanted}, not ${describe(value)}${hint}`);

const unknownField = (path: string, meant: string | undefined): FieldProblem =>
  warning(path, `unknown field, ignored${meant === undefined ? "" : `; did you mean "${meant}"?`}`);

function decodeStruct(type: string, input: unknown, path: string, report: Report): unknown {
  if (input === null || input === undefined) return undefined;
  if (!isJsonObject(input)) {
    report(mustBe(path, "a map", input));
    return undefined;
  }
  const fields = podSchema[type] ?? {};
  const decoded: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(input)) {
    const at = path === "" ? name : `${path}.${name}`;
    const fieldType = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (fieldType === undefined) {
      report(() => unknownField(at, closestName(name, Object.keys(fields))));
      continue;
    }
    const member = decodeValue(fieldType, value, at, report);
    if (member !== undefined) decoded[name] = member;
  }
  return decoded;
}

function decodeValue(type: string, value: unknown, path: string, report: Report): unknown {
  if (value === null || value === undefined) return undefined;
  if (type.endsWith("[]")) return decodeList(type.slice(0, -2), value, path, report);
  if (type.endsWith("{}")) return decodeMap(type.slice(0, -2), value, path, report);
  if (Object.hasOwn(podSchema, type)) return decodeStruct(type, value, path, report);
  return decodeScalar(type, value, path, report);
}

function decodeList(type: string, value: unknown, path: string, report: Report): unknown {
  if (!Array.isArray(value)) {
    report(mustBe(path, "a list", value));
    return undefined;
  }
  const items: unknown[] = [];
  for (const [index, item] of value.entries()) {
    const decoded = item === null ? undefined : decodeValue(type, item, `${path}[${index}]`, report);
    // An invalid item keeps its place, so that later problems have the right index.
    items.push(decoded ?? zeroOf(type));
  }
  return items;
}

function decodeMap(type: string, value: unknown, path: string, report: Report): unknown {
  if (!isJsonObject(value)) {
    report(mustBe(path, "a map", value));
    return undefined;
  }
  const members = Object.entries(value).flatMap(([key, item]) => {
    const decoded = item === null ? zeroOf(type) : decodeValue(type, item, `${path}[${key}]`, report);
    return decoded === undefined ? [] : [[key, decoded] as const];
  });
  return Object.fromEntries(members);
}

/** Returns the empty value of a type, which `null` means inside a list or map. */
function zeroOf(type: string): unknown {
  switch (type) {
    case "string":
    case "bytes":
      return "";
    case "quantity":
      return "0";
    case "int32":
    case "int64":
    case "intOrString":
      return 0;
    case "boolean":
      return false;
    default:
      return {};
  }
}

function decodeScalar(type: string, value: unknown, path: string, report: Report): unknown {
  const fail = (wanted: string, hint = ""): undefined => {
    report(mustBe(path, wanted, value, hint));
    return undefined;
  };
  switch (type) {
    case "string":
      return typeof value === "string" ? value : fail(quoteHint(value));
    case "boolean":
      return typeof value === "boolean" ? value : fail("true or false");
    case "int32":
      return isIntegerWithin(value, INT32_MAX) ? value : fail("a 32-bit integer");
    case "int64":
      return isIntegerWithin(value, Number.MAX_SAFE_INTEGER) ? value : fail("an integer below 2^53");
    case "intOrString":
      return typeof value === "string" || isIntegerWithin(value, INT32_MAX) ? value : fail("an integer or a string");
    case "quantity":
      return decodeQuantity(value) ?? fail("a quantity such as 100m, 1.5 or 64Mi", quantityHint(String(value)));
    case "date":
      return typeof value === "string" && parseInstant(value) !== undefined ? value : fail("an RFC 3339 time");
    case "bytes":
      return typeof value === "string" && BASE64.test(value.replace(/[\r\n]/g, "")) ? value : fail("base64 text");
    default:
      return value;
  }
}

/** Suggests quotes, which fix the most frequent mistake in YAML manifests. */
const quoteHint = (value: unknown): string =>
  typeof value === "number" || typeof value === "boolean" ? "a string (put it in quotes)" : "a string";

const isIntegerWithin = (value: unknown, max: number): boolean =>
  typeof value === "number" && Number.isInteger(value) && value <= max && value >= -max - 1;

function decodeQuantity(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const quantity = parseQuantity(value);
  return quantity === undefined ? undefined : formatQuantity(quantity);
}
