/** Checks a value against the rule of its field. */
import { parseCpuSet } from "../cpu/cpuSet.ts";
import { quantityHint } from "../meantQuantity.ts";
import { parseQuantity } from "../quantity.ts";
import type { FieldRule } from "./configField.ts";
import { describeValue } from "./configProblem.ts";
import { formatDuration } from "./duration.ts";
import { isAddressRange, isIPAddress } from "./nodeNames.ts";

/** Returns why a value violates its rule, `must ...`; undefined when it is valid. */
export function ruleFault(rule: FieldRule, value: unknown): string | undefined {
  switch (rule.kind) {
    case "range":
      return rangeFault(Number(value), rule.min, rule.max, String);
    case "durationRange":
      return rangeFault(Number(value), rule.minMs, rule.maxMs, formatDuration);
    case "zeroOrDuration":
      return Number(value) === 0 || Number(value) >= rule.minMs
        ? undefined
        : `must be 0s or at least ${formatDuration(rule.minMs)}, got ${formatDuration(Number(value))}`;
    case "above":
      return Number(value) > rule.min && Number(value) <= rule.max
        ? undefined
        : `must be more than ${rule.min} and at most ${rule.max}, got ${describeValue(value)}`;
    case "port":
      return portFault(Number(value), rule.zero);
    case "multipleOf":
      return Number(value) > 0 && Number(value) % rule.of === 0
        ? undefined
        : `must be a multiple of ${rule.of} above 0, got ${describeValue(value)}`;
    default:
      return textFault(rule, String(value));
  }
}

type TextRule = Extract<
  FieldRule,
  { kind: "oneOf" | "eachOneOf" | "ip" | "addressRanges" | "cpuList" | "nonZeroQuantity" }
>;

function textFault(rule: TextRule, text: string): string | undefined {
  switch (rule.kind) {
    case "oneOf":
    case "eachOneOf": {
      const emptyIsFine = rule.kind === "oneOf" && rule.allowEmpty === true;
      if (rule.values.includes(text) || (emptyIsFine && text === "")) return undefined;
      const why = rule.kind === "oneOf" ? rule.elsewhere?.[text] : undefined;
      return `must be one of ${rule.values.join(", ")}, got ${describeValue(text)}${why === undefined ? "" : `: ${why}`}`;
    }
    case "ip":
      return isIPAddress(text) ? undefined : `must be an IP address, got ${describeValue(text)}`;
    case "addressRanges":
      return text === "" || text.split(",").every(isAddressRange)
        ? undefined
        : `must be an address range such as 10.85.0.0/16, or an IPv4 and an IPv6 one with a comma, got ${describeValue(text)}`;
    case "cpuList": {
      const parsed = parseCpuSet(text);
      return "cpus" in parsed ? undefined : `must be a list of CPUs such as 0-3,8: ${parsed.fault}`;
    }
    case "nonZeroQuantity": {
      const quantity = parseQuantity(text);
      return quantity !== undefined && quantity.nano !== 0n
        ? undefined
        : `must be a quantity other than 0 such as "10Mi", got ${describeValue(text)}${quantityHint(text)}`;
    }
  }
}

function rangeFault(
  value: number,
  min: number | undefined,
  max: number | undefined,
  show: (value: number) => string,
): string | undefined {
  if ((min === undefined || value >= min) && (max === undefined || value <= max)) return undefined;
  if (min !== undefined && max !== undefined)
    return `must be between ${show(min)} and ${show(max)}, got ${show(value)}`;
  if (max !== undefined) return `must be at most ${show(max)}, got ${show(value)}`;
  return min === 0
    ? `must not be negative, got ${show(value)}`
    : `must be at least ${show(min ?? 0)}, got ${show(value)}`;
}

function portFault(value: number, zero: boolean): string | undefined {
  if ((zero && value === 0) || (value >= 1 && value <= 65_535)) return undefined;
  return `must be ${zero ? "0 (off) or " : ""}a port between 1 and 65535, got ${value}`;
}
