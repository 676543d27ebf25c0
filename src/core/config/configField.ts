/**
 * A row of the field table: wire type, default, validation rule and flag of a KubeletConfiguration field, and whether
 * its feature is implemented. Decoding, defaulting, validation, encoding and help use the same rows.
 */

/** Wire types. A duration is a Go duration string, a quantity a Kubernetes quantity, a time RFC 3339. */
export type FieldType =
  | "bool"
  | "int32"
  | "int64"
  | "uint32"
  | "float64"
  | "string"
  | "duration"
  | "quantity"
  | "time"
  | "[]string"
  | "[]int32"
  | "map[string]string"
  | "map[string]bool"
  | "map[string][]string"
  | "map[string]quantity"
  | "object"
  | "[]object";

/** A decoded default; durations are in milliseconds. */
export type FieldDefault = string | number | boolean | readonly string[] | Readonly<Record<string, string>>;

/** A constraint on a value, besides its type. */
export type FieldRule =
  | { readonly kind: "range"; readonly min?: number; readonly max?: number }
  | { readonly kind: "above"; readonly min: number; readonly max: number }
  | { readonly kind: "durationRange"; readonly minMs?: number; readonly maxMs?: number }
  | { readonly kind: "zeroOrDuration"; readonly minMs: number }
  | { readonly kind: "port"; readonly zero: boolean }
  | {
      readonly kind: "oneOf";
      readonly values: readonly string[];
      readonly allowEmpty?: boolean;
      /** Why another known word is not allowed here. */
      readonly elsewhere?: Readonly<Record<string, string>>;
    }
  | { readonly kind: "eachOneOf"; readonly values: readonly string[] }
  | { readonly kind: "ip" }
  /** Ranges in CIDR notation, separated by commas; may be empty. */
  | { readonly kind: "addressRanges" }
  | { readonly kind: "cpuList" }
  | { readonly kind: "nonZeroQuantity" }
  | { readonly kind: "multipleOf"; readonly of: number };

/** A row of the table. */
export interface ConfigField {
  readonly type: FieldType;
  /** A pointer: absent and null differ from the zero value, so an explicit zero is kept, not defaulted. */
  readonly pointer: boolean;
  readonly default?: FieldDefault;
  /** Name of the flag that sets this field, without dashes. */
  readonly flag?: string;
  readonly rule?: FieldRule;
  /** Whether setting it has an effect in this version; a list contains the only values with an effect. */
  readonly effective: boolean | readonly string[];
  /** Why other values will never have an effect; undefined for a field that has one, or that does not have it yet. */
  readonly idle?: string;
  /** Description for users, one line. */
  readonly about: string;
}

/** Optional parts of a row, besides type, default and description. */
export interface FieldExtras {
  readonly flag?: string;
  readonly rule?: FieldRule;
  readonly effective?: boolean | readonly string[];
  readonly idle?: string;
}

/** Builds a row: `type` as in upstream's reference; a trailing `?` marks a pointer. */
export function field(
  type: FieldType | `${FieldType}?`,
  fallback: FieldDefault | undefined,
  about: string,
  extras: FieldExtras = {},
): ConfigField {
  const pointer = type.endsWith("?");
  return {
    type: (pointer ? type.slice(0, -1) : type) as FieldType,
    pointer,
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(extras.flag === undefined ? {} : { flag: extras.flag }),
    ...(extras.rule === undefined ? {} : { rule: extras.rule }),
    effective: extras.effective ?? false,
    ...(extras.idle === undefined ? {} : { idle: extras.idle }),
    about,
  };
}

/** Rule: a number between two bounds, inclusive. */
export const range = (min?: number, max?: number): FieldRule => ({
  kind: "range",
  ...(min === undefined ? {} : { min }),
  ...(max === undefined ? {} : { max }),
});
/** Rule: a number of at least 0. */
export const notNegative: FieldRule = { kind: "range", min: 0 };
/** Rule: a duration of at least 0. */
export const notNegativeDuration: FieldRule = { kind: "durationRange", minMs: 0 };
/** Rule: one of these words. */
export const oneOf = (...values: readonly string[]): FieldRule => ({ kind: "oneOf", values });

/** Convert seconds, minutes and hours to milliseconds, for defaults. */
export const seconds = (count: number): number => count * 1_000;
export const minutes = (count: number): number => count * 60_000;
export const hours = (count: number): number => count * 3_600_000;
