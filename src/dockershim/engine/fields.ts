/** Reads fields of foreign JSON: one of another type counts as absent. Pure. */
import { isJsonObject } from "../../core/json.ts";

/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** The value as an object; empty for any other. */
export const fieldsOf = (value: unknown): Fields => (isJsonObject(value) ? value : {});

/** The field as text; empty for any other. */
export function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === "string" ? value : "";
}

/** The field as a finite number; zero for any other. */
export function numberOf(fields: Fields, name: string): number {
  const value = fields[name];
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/** The field as a whole number, as the messages of CRI count; zero for any other. */
export const wholeOf = (fields: Fields, name: string): bigint => BigInt(Math.trunc(numberOf(fields, name)));

/** The items of a list; none for any other. */
export function listOf(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** The texts of a list. */
export const textsOf = (fields: Fields, name: string): readonly string[] =>
  listOf(fields, name).filter((item) => typeof item === "string");

/** The members of an object that are texts. */
export const textMapOf = (fields: Fields, name: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(fieldsOf(fields[name])).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
