/** A row of a flag table. */
import type { ConfigPath } from "../core/config/kubeletConfiguration.ts";

/** Type of a flag as upstream names it in its help. */
export type FlagType =
  | "string"
  | "bool"
  | "int"
  | "int32"
  | "int64"
  | "duration"
  | "ip"
  | "quantity"
  | "stringSlice"
  | "mapStringString"
  | "mapStringBool"
  | "colonSeparatedMultimapStringString"
  | "[]v1.Taint"
  | "reserved-memory"
  | "Level"
  | "pattern=N,..."
  | "version";

/**
 * How the pairs of a mapStringString are written: `a=b,c=d`, `a<b,c<d`, one pair per flag, or labels (`a` alone is
 * fine).
 */
export type PairSyntax = "equals" | "lessThan" | "single" | "labels";

/** A flag. Its value sets the configuration field `field`, or else the property with the flag's name. */
export interface FlagSpec {
  /** Name without dashes. */
  readonly name: string;
  readonly short?: string;
  readonly type: FlagType;
  readonly pairs?: PairSyntax;
  /** The default as upstream prints it; for a flag bound to a field, the value without a configuration file. */
  readonly default: string;
  readonly group: FlagGroup;
  readonly about: string;
  /** Reason for the deprecation; undefined for a flag that is not deprecated. */
  readonly deprecated?: string;
  /** The configuration field it sets. */
  readonly field?: ConfigPath;
  /** Whether it has an effect in this version. */
  readonly effective: boolean;
  /** Why it, or any other value of its field, will never have an effect; undefined for a flag without such a reason. */
  readonly idle?: string;
}

/** Headings of the help, in their order. */
export const FLAG_GROUPS = [
  "Paths",
  "Node identity",
  "Pod sources",
  "Runtime",
  "Images",
  "Pods",
  "Server",
  "Authentication and authorization",
  "TLS",
  "API server",
  "Resources",
  "Eviction",
  "Container logs",
  "Host",
  "Feature gates",
  "Logging",
  "Deprecated",
  "rxlet",
  "General",
] as const;

/** A heading of the help. */
export type FlagGroup = (typeof FLAG_GROUPS)[number];

/** True for a flag that may stand alone, meaning true. */
export const isSwitch = (spec: FlagSpec): boolean => spec.type === "bool" || spec.type === "version";

/** How the value of each type is shown. */
const VALUE_NAMES: Readonly<Record<FlagType, string>> = {
  string: "<text>",
  bool: "[bool]",
  int: "<number>",
  int32: "<number>",
  int64: "<number>",
  duration: "<duration>",
  ip: "<ip>",
  quantity: "<quantity>",
  stringSlice: "<a,b>",
  mapStringString: "<a=b,c=d>",
  mapStringBool: "<a=true,b=false>",
  colonSeparatedMultimapStringString: "<name:value,name:value>",
  "[]v1.Taint": "<key=value:effect>",
  "reserved-memory": "<0:memory=1Gi>",
  Level: "<level>",
  "pattern=N,...": "<pattern=N>",
  version: "[raw]",
};

/** The value of a flag as help and messages show it: `<number>`. */
export const valueName = ({ pairs, type }: FlagSpec): string =>
  pairs === "lessThan" ? "<a<b,c<d>" : VALUE_NAMES[type];
