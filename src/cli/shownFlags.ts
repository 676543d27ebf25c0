/**
 * The values of flags, regardless of configuration files, for `/flagz`. Upstream: flagz.NamedFlagSetsReader.
 */
import { configAt } from "../core/config/configAtPath.ts";
import { formatDuration } from "../core/config/duration.ts";
import { KUBELET_FLAGS, propertyOfFlag } from "./flags.ts";
import type { FlagSpec } from "./flagSpec.ts";
import type { KubeletOptions } from "./kubeletOptions.ts";

/** Headers may carry secrets. */
const MASKED: ReadonlySet<string> = new Set(["manifest-url-header"]);

/** Lists whose brackets are printed without anything in them, too. */
const PRINTED_EMPTY: ReadonlySet<FlagSpec["type"]> = new Set(["stringSlice"]);

/** Texts by flag, deprecated ones too. */
export function shownFlags({
  flags,
  flagConfig,
}: Pick<KubeletOptions, "flags" | "flagConfig">): ReadonlyMap<string, string> {
  const own = flags as unknown as Readonly<Record<string, unknown>>;
  return new Map([
    ["help", "false"],
    ...KUBELET_FLAGS.map((spec): [string, string] => {
      const value = spec.field === undefined ? own[propertyOfFlag(spec.name)] : configAt(flagConfig, spec.field);
      return [spec.name, MASKED.has(spec.name) ? masked(value) : shown(spec, value)];
    }),
  ]);
}

const masked = (value: unknown): string =>
  Object.keys(Object(value))
    .map((name) => `${name}:<masked>`)
    .join(",");

/** Formats a value as Go does. */
function shown(spec: FlagSpec, value: unknown): string {
  if (value === undefined || value === null) return "";
  if (spec.type === "duration") return formatDuration(Number(value));
  if (Array.isArray(value) && value.length === 0 && !PRINTED_EMPTY.has(spec.type)) return "";
  if (Array.isArray(value)) return `[${value.map(text).join(",")}]`;
  if (typeof value === "object")
    return Object.entries(value)
      .map(([key, each]) => `${key}=${text(each)}`)
      .join(",");
  return text(value);
}

const text = (value: unknown): string => (typeof value === "object" ? JSON.stringify(value) : String(value));
