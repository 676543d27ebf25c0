/**
 * Decodes a KubeletConfiguration document into a partial configuration: only the fields it sets, durations in
 * milliseconds. Strict: reports unknown fields, wrong types and numbers out of range, each with its path.
 * Differs from upstream: upstream accepts a v1beta1 document with unknown fields with a warning; rxlet rejects it.
 */
import { closestName } from "./closestName.ts";
import type { ConfigField, FieldType } from "./configField.ts";
import { CONFIG_TREE, type FieldNode } from "./configFields.ts";
import { type ConfigProblem, describeValue, type FieldPath } from "./configProblem.ts";
import { quantityHint } from "../meantQuantity.ts";
import { formatQuantity, parseQuantity } from "../quantity.ts";
import { parseDuration } from "./duration.ts";
import { isJsonObject } from "../json.ts";

/** The only API version and kind of the document. */
export const CONFIG_API_VERSION = "kubelet.config.k8s.io/v1beta1";
export const CONFIG_KIND = "KubeletConfiguration";

/** The fields that a document sets, nested as in KubeletConfiguration. */
export type PartialConfiguration = Readonly<Record<string, unknown>>;

/** A decoded document and all its problems; invalid fields are omitted. */
export interface DecodedConfiguration {
  readonly config: PartialConfiguration;
  readonly problems: readonly ConfigProblem[];
}

type Decoded = { readonly value: unknown } | { readonly reason: string };
const bad = (what: string, value: unknown, hint = ""): Decoded => ({
  reason: `must be ${what}, got ${describeValue(value)}${hint}`,
});

const INTEGER_BOUNDS: Readonly<Partial<Record<FieldType, readonly [number, number]>>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
  // Differs from upstream: integers beyond 53 bits, which no field needs, are rejected.
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
};

function decodeInteger(type: FieldType, value: unknown): Decoded {
  if (typeof value !== "number" || !Number.isInteger(value)) return bad("a whole number", value);
  const [min, max] = INTEGER_BOUNDS[type] ?? [0, 0];
  return value < min || value > max ? bad(`between ${min} and ${max}`, value) : { value };
}

function decodeDuration(path: string, value: unknown): Decoded {
  // The field may be a number of nanoseconds, as upstream.
  if (path === "logging.flushFrequency" && typeof value === "number") return { value: value / 1e6 };
  const ms = typeof value === "string" ? parseDuration(value) : undefined;
  if (ms !== undefined) return { value: ms };
  const hint = typeof value === "number" && value >= 0 ? `; did you mean "${value}s"?` : "";
  return bad('a duration such as "1m30s"', value, hint);
}

function decodeQuantity(value: unknown): Decoded {
  const quantity = typeof value === "string" || typeof value === "number" ? parseQuantity(value) : undefined;
  return quantity === undefined
    ? bad('a quantity such as "100Mi"', value, quantityHint(String(value)))
    : { value: formatQuantity(quantity) };
}

function decodeScalar(path: string, field: ConfigField, value: unknown): Decoded {
  switch (field.type) {
    case "bool":
      return typeof value === "boolean" ? { value } : bad("true or false", value);
    case "int32":
    case "uint32":
    case "int64":
      return decodeInteger(field.type, value);
    case "float64":
      return typeof value === "number" && Number.isFinite(value) ? { value } : bad("a number", value);
    case "duration":
      return decodeDuration(path, value);
    case "quantity":
      return decodeQuantity(value);
    case "string":
    case "time":
      return typeof value === "string" ? { value } : bad("a string", value);
    default:
      return bad("something else", value);
  }
}

/** "whole": a complete document; "patch": a drop-in, where null removes a key of a map. */
export type DocumentRole = "whole" | "patch";

class Reading {
  readonly problems: ConfigProblem[] = [];
  private readonly role: DocumentRole;

  constructor(role: DocumentRole) {
    this.role = role;
  }

  fault(path: FieldPath, reason: string): undefined {
    this.problems.push({ path, reason });
    return undefined;
  }

  members(path: FieldPath, nodes: ReadonlyMap<string, FieldNode>, value: Readonly<Record<string, unknown>>) {
    const entries: [string, unknown][] = [];
    for (const [name, raw] of Object.entries(value)) {
      if (path.length === 0 && (name === "apiVersion" || name === "kind")) continue;
      const node = nodes.get(name);
      if (node === undefined) this.fault([...path, name], unknownField(name, nodes.keys()));
      else if (raw !== null && raw !== undefined) {
        const decoded = this.field([...path, name], node, raw);
        if (decoded !== undefined) entries.push([name, decoded]);
      }
    }
    return Object.fromEntries(entries);
  }

  field(path: FieldPath, node: FieldNode, value: unknown): unknown {
    const { type } = node.field;
    switch (type) {
      case "object":
        return isJsonObject(value) ? this.members(path, node.children, value) : this.wrong(path, "a map", value);
      case "[]object":
        return this.list(path, value, (itemPath, item) =>
          isJsonObject(item) ? this.members(itemPath, node.children, item) : this.wrong(itemPath, "a map", item),
        );
      case "[]string":
        return this.list(path, value, (itemPath, item) => this.scalar(itemPath, node, "string", item));
      case "[]int32":
        return this.list(path, value, (itemPath, item) => this.scalar(itemPath, node, "int32", item));
      case "map[string]string":
        return this.map(path, value, (itemPath, item) => this.scalar(itemPath, node, "string", item));
      case "map[string]bool":
        return this.map(path, value, (itemPath, item) => this.scalar(itemPath, node, "bool", item));
      case "map[string]quantity":
        return this.map(path, value, (itemPath, item) => this.scalar(itemPath, node, "quantity", item));
      case "map[string][]string":
        return this.map(path, value, (listPath, list) =>
          this.list(listPath, list, (itemPath, item) => this.scalar(itemPath, node, "string", item)),
        );
      default:
        return this.scalar(path, node, type, value);
    }
  }

  private wrong(path: FieldPath, what: string, value: unknown): undefined {
    return this.fault(path, `must be ${what}, got ${describeValue(value)}`);
  }

  private scalar(path: FieldPath, node: FieldNode, type: FieldType, value: unknown): unknown {
    const decoded = decodeScalar(node.path, { ...node.field, type }, value);
    return "reason" in decoded ? this.fault(path, decoded.reason) : decoded.value;
  }

  private list(path: FieldPath, value: unknown, read: (path: FieldPath, item: unknown) => unknown): unknown {
    if (!Array.isArray(value)) return this.wrong(path, "a list", value);
    return value.map((item: unknown, index) => read([...path, index], item)).filter((decoded) => decoded !== undefined);
  }

  private map(path: FieldPath, value: unknown, read: (path: FieldPath, item: unknown) => unknown): unknown {
    if (!isJsonObject(value)) return this.wrong(path, "a map", value);
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, item]) => item !== null || this.role === "whole")
        .map(([key, item]): [string, unknown] => [key, read([...path, key], item)])
        .filter(([, decoded]) => decoded !== undefined),
    );
  }
}

function unknownField(name: string, known: Iterable<string>): string {
  const guess = closestName(name, known);
  return guess === undefined ? "unknown field" : `unknown field; did you mean ${guess}?`;
}

function checkKind(document: Readonly<Record<string, unknown>>, reading: Reading): void {
  const expected: readonly (readonly [string, string])[] = [
    ["apiVersion", CONFIG_API_VERSION],
    ["kind", CONFIG_KIND],
  ];
  for (const [name, wanted] of expected) {
    const got = document[name];
    if (got === wanted) continue;
    reading.fault(
      [name],
      got === undefined ? `must be ${wanted}, but is missing` : `must be ${wanted}, got ${describeValue(got)}`,
    );
  }
}

/** Decodes one document (plain JSON values). */
export function decodeConfiguration(document: unknown, role: DocumentRole = "whole"): DecodedConfiguration {
  const reading = new Reading(role);
  if (!isJsonObject(document)) {
    reading.fault([], `must be a map of fields, got ${describeValue(document)}`);
    return { config: {}, problems: reading.problems };
  }
  checkKind(document, reading);
  const config = reading.members([], CONFIG_TREE, document);
  return { config, problems: reading.problems };
}
