/**
 * Turns the texts given to one flag into its value, with upstream's syntax for every type. A flag given several times:
 * the last text counts, but lists, maps and reserved memory add up.
 * Upstream: pflag, component-base/cli/flag, kubelet's util/flag.
 */
import { parseDuration } from "../core/config/duration.ts";
import type { MemoryReservation, Taint, VModuleItem } from "../core/config/kubeletConfiguration.ts";
import {
  isIPAddress,
  isNumaMemoryResource,
  isTaintEffect,
  labelKeyFault,
  labelValueFault,
  TAINT_EFFECTS,
} from "../core/config/nodeNames.ts";
import { formatQuantity, parseQuantity } from "../core/quantity.ts";
import type { FlagSpec, FlagType, PairSyntax } from "./flagSpec.ts";

/** A value, or all reasons why the texts are invalid. */
export type FlagValue =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly faults: readonly string[] };

const quote = (text: string): string => JSON.stringify(text);
const good = (value: unknown): FlagValue => ({ ok: true, value });
const wrong = (...faults: readonly string[]): FlagValue => ({ ok: false, faults });
const orFault = (value: unknown, what: string, text: string): FlagValue =>
  value === undefined ? wrong(`must be ${what}, got ${quote(text)}`) : good(value);

const TRUE = ["1", "t", "T", "TRUE", "true", "True"];
const FALSE = ["0", "f", "F", "FALSE", "false", "False"];

/** Parses a boolean as Go does; undefined for any other text. */
function parseGoBool(text: string): boolean | undefined {
  if (TRUE.includes(text)) return true;
  return FALSE.includes(text) ? false : undefined;
}

const INTEGER = /^[+-]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]*|[1-9][0-9]*)$/;

/** Parses an integer of any base as Go does; undefined for any other text and beyond 53 bits. */
function parseGoInteger(text: string): number | undefined {
  if (!INTEGER.test(text)) return undefined;
  const negative = text.startsWith("-");
  const digits = text.replace(/^[+-]/, "");
  const octal = /^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits;
  const value = Number(octal);
  if (!Number.isSafeInteger(value)) return undefined;
  return negative && value !== 0 ? -value : value;
}

function integer(text: string, min: number, max: number): FlagValue {
  const value = parseGoInteger(text);
  if (value === undefined) return wrong(`must be a whole number, got ${quote(text)}`);
  return value < min || value > max ? wrong(`must be between ${min} and ${max}, got ${text}`) : good(value);
}

/** Splits comma-separated values. A value in double quotes may contain commas, and a doubled quote stands for one. */
function splitCsv(text: string): readonly string[] | undefined {
  if (text === "") return [];
  const values: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;
  for (;;) {
    const match = cell.exec(text);
    if (match === null) return undefined;
    values.push(match[1] === undefined ? (match[2] ?? "") : match[1].replaceAll('""', '"'));
    if (match[3] === "") return values;
  }
}

interface Pair {
  readonly key: string;
  readonly value: string;
}

function pairsOf(
  text: string,
  syntax: PairSyntax,
): { readonly pairs: readonly Pair[]; readonly faults: readonly string[] } {
  const sign = syntax === "lessThan" ? "<" : "=";
  const parts = (syntax === "single" ? [text] : text.split(",")).filter((part) => part !== "");
  const pairs: Pair[] = [];
  const faults: string[] = [];
  for (const part of parts) {
    const at = part.indexOf(sign);
    if (at >= 0) pairs.push({ key: part.slice(0, at).trim(), value: part.slice(at + 1).trim() });
    else if (syntax === "labels") pairs.push({ key: part.trim(), value: "" });
    else faults.push(`must be pairs such as key${sign}value, got ${quote(part)}`);
  }
  return { pairs, faults };
}

function stringMap(texts: readonly string[], syntax: PairSyntax): FlagValue {
  const read = texts.map((text) => pairsOf(text, syntax));
  const faults = read.flatMap((one) => one.faults);
  if (faults.length > 0) return wrong(...faults);
  return good(Object.fromEntries(read.flatMap((one) => one.pairs.map(({ key, value }) => [key, value]))));
}

function boolMap(texts: readonly string[]): FlagValue {
  const read = texts.map((text) => pairsOf(text, "equals"));
  const faults = read.flatMap((one) => one.faults);
  const entries: [string, boolean][] = [];
  for (const { key, value } of read.flatMap((one) => one.pairs)) {
    const parsed = parseGoBool(value);
    if (parsed === undefined) faults.push(`${key} must be true or false, got ${quote(value)}`);
    else entries.push([key, parsed]);
  }
  return faults.length > 0 ? wrong(...faults) : good(Object.fromEntries(entries));
}

function multimap(texts: readonly string[]): FlagValue {
  const lists = new Map<string, string[]>();
  const faults: string[] = [];
  for (const part of texts.flatMap((text) => text.split(",")).filter((piece) => piece !== "")) {
    const at = part.indexOf(":");
    if (at < 0) {
      faults.push(`must be pairs such as name:value, got ${quote(part)}`);
      continue;
    }
    const key = part.slice(0, at).trim();
    lists.set(key, [...(lists.get(key) ?? []), part.slice(at + 1).trim()]);
  }
  return faults.length > 0 ? wrong(...faults) : good(Object.fromEntries(lists));
}

function taint(text: string): Taint | string {
  const [pair = "", effect, more] = text.split(":");
  const [key = "", value = "", tooMany] = pair.split("=");
  if (more !== undefined || tooMany !== undefined || effect === undefined) {
    return `must be taints such as key=value:NoSchedule, got ${quote(text)}`;
  }
  if (!isTaintEffect(effect)) return `the effect of ${quote(text)} must be one of ${TAINT_EFFECTS.join(", ")}`;
  const fault = labelKeyFault(key) ?? labelValueFault(value);
  return fault === undefined ? { key, value, effect } : `in ${quote(text)}: ${fault}`;
}

function taints(text: string): FlagValue {
  if (text === "") return good([]);
  const read = text.split(",").map(taint);
  const faults = read.filter((one) => typeof one === "string");
  const list = read.filter((one) => typeof one !== "string");
  const names = list.map(({ key, effect }) => `${key}:${effect}`);
  const twice = names.filter((name, index) => names.indexOf(name) < index);
  faults.push(...twice.map((name) => `the taint ${name} is given twice`));
  return faults.length > 0 ? wrong(...faults) : good(list);
}

function reservation(text: string): MemoryReservation | string {
  const shape = /^(\d{1,9}):(.+)$/.exec(text);
  if (shape === null) return `must be such as 0:memory=1Gi,hugepages-1M=2Gi, got ${quote(text)}`;
  const limits: [string, string][] = [];
  for (const part of (shape[2] ?? "").split(",")) {
    const [name = "", amount, tooMany] = part.split("=");
    const quantity = amount === undefined || tooMany !== undefined ? undefined : parseQuantity(amount);
    if (!isNumaMemoryResource(name)) return `${quote(name)} is neither memory nor hugepages-<size>`;
    if (quantity === undefined) return `must be pairs such as memory=1Gi, got ${quote(part)}`;
    limits.push([name, formatQuantity(quantity)]);
  }
  return { numaNode: Number(shape[1]), limits: Object.fromEntries(limits) };
}

function reservations(texts: readonly string[]): FlagValue {
  const read = texts.filter((text) => text !== "").map(reservation);
  const faults = read.filter((one) => typeof one === "string");
  return faults.length > 0 ? wrong(...faults) : good(read);
}

function vmodule(text: string): FlagValue {
  const items: VModuleItem[] = [];
  const faults: string[] = [];
  for (const part of text.split(",").filter((piece) => piece !== "")) {
    const match = /^([^=]+)=(\d{1,10})$/.exec(part);
    if (match === null || Number(match[2]) > 2 ** 31 - 1) faults.push(`must be such as server=4, got ${quote(part)}`);
    else items.push({ filePattern: match[1] ?? "", verbosity: Number(match[2]) });
  }
  return faults.length > 0 ? wrong(...faults) : good(items);
}

function strings(texts: readonly string[]): FlagValue {
  const lists = texts.map((text) => ({ text, values: splitCsv(text) }));
  const faults = lists.filter(({ values }) => values === undefined);
  if (faults.length > 0)
    return wrong(...faults.map(({ text }) => `must be values separated by commas, got ${quote(text)}`));
  return good(lists.flatMap(({ values }) => values ?? []));
}

function quantityText(text: string): string | undefined {
  const quantity = parseQuantity(text);
  return quantity === undefined ? undefined : formatQuantity(quantity);
}

function parseScalar(type: FlagType, text: string): FlagValue {
  switch (type) {
    case "bool":
      return orFault(parseGoBool(text), "true or false", text);
    case "version":
      return orFault(text === "raw" ? true : parseGoBool(text), "true, false or raw", text);
    case "int":
    case "int64":
      return integer(text, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    case "int32":
      return integer(text, -(2 ** 31), 2 ** 31 - 1);
    case "Level":
      return integer(text, 0, 2 ** 31 - 1);
    case "duration":
      return orFault(parseDuration(text), "a duration such as 1m30s", text);
    case "quantity":
      return orFault(quantityText(text), "a quantity such as 100Mi", text);
    case "ip":
      return orFault(text === "" || isIPAddress(text) ? text : undefined, "an IP address", text);
    case "[]v1.Taint":
      return taints(text);
    case "pattern=N,...":
      return vmodule(text);
    default:
      return good(text);
  }
}

/** Returns the last value. Any faulty text is an error, because upstream parses each in turn. */
function lastOf(type: FlagType, texts: readonly string[]): FlagValue {
  const values = texts.map((text) => parseScalar(type, text));
  const faults = values.flatMap((value) => (value.ok ? [] : value.faults));
  return faults.length > 0 ? wrong(...faults) : (values.at(-1) ?? good(""));
}

/** Parses the texts of one flag, at least one, in the order of the command line. */
export function parseFlagValue(spec: FlagSpec, texts: readonly string[]): FlagValue {
  switch (spec.type) {
    case "stringSlice":
      return strings(texts);
    case "mapStringString":
      return stringMap(texts, spec.pairs ?? "equals");
    case "mapStringBool":
      return boolMap(texts);
    case "colonSeparatedMultimapStringString":
      return multimap(texts);
    case "reserved-memory":
      return reservations(texts);
    default:
      return lastOf(spec.type, texts);
  }
}
