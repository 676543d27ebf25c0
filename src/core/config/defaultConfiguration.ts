/**
 * Fills a partial configuration with defaults. A non-pointer field with its zero value counts as unset, as upstream:
 * `port: 0` means 10250. Lists and maps are unset only when absent.
 * Upstream: SetDefaults_KubeletConfiguration, and the eviction defaults of loadConfigFile.
 */
import type { FieldType } from "./configField.ts";
import { CONFIG_TREE, type FieldNode } from "./configFields.ts";
import type { PartialConfiguration } from "./decodeConfiguration.ts";
import { DEFAULT_EVICTION_HARD } from "./evictionDefaults.ts";
import type { KubeletConfiguration } from "./kubeletConfiguration.ts";
import { isJsonObject } from "../json.ts";

/** Returns whether a feature gate is on. */
export type GateEnabled = (name: string) => boolean;

/** Returns the zero value of a wire type. */
export function zeroOf(type: FieldType): unknown {
  switch (type) {
    case "bool":
      return false;
    case "int32":
    case "int64":
    case "uint32":
    case "float64":
    case "duration":
      return 0;
    case "string":
    case "time":
      return "";
    case "quantity":
      return "0";
    case "[]string":
    case "[]int32":
    case "[]object":
      return [];
    case "map[string]string":
    case "map[string]bool":
    case "map[string][]string":
    case "map[string]quantity":
    case "object":
      return {};
  }
}

function fill(node: FieldNode, value: unknown): unknown {
  const { type, pointer } = node.field;
  if (type === "object") {
    if (value === undefined && pointer) return undefined;
    return fillMembers(node.children, isJsonObject(value) ? value : {});
  }
  if (type === "[]object") {
    const items: readonly unknown[] = Array.isArray(value) ? value : [];
    return items.map((item) => fillMembers(node.children, isJsonObject(item) ? item : {}));
  }
  const isUnset = value === undefined || (!pointer && value === zeroOf(type));
  if (!isUnset) return value;
  // The default depends on the configuration file, see withDefaultEviction.
  if (node.path === "evictionHard") return {};
  return node.field.default ?? (pointer ? undefined : zeroOf(type));
}

function fillMembers(nodes: ReadonlyMap<string, FieldNode>, value: PartialConfiguration): Record<string, unknown> {
  const entries = [...nodes].map(([name, node]): [string, unknown] => [name, fill(node, value[name])]);
  return Object.fromEntries(entries.filter(([, filled]) => filled !== undefined));
}

/** Returns the defaults that depend on other fields or on gates. */
function dependentDefaults(given: PartialConfiguration, filled: KubeletConfiguration, isOn: GateEnabled) {
  const changed: { -readonly [Key in keyof KubeletConfiguration]?: KubeletConfiguration[Key] } = {};
  // The report frequency follows the update frequency when only the latter is set.
  if (!given["nodeStatusReportFrequency"] && given["nodeStatusUpdateFrequency"]) {
    changed.nodeStatusReportFrequency = filled.nodeStatusUpdateFrequency;
  }
  if (filled.podPidsLimit < 0) changed.podPidsLimit = -1;
  if (given["serializeImagePulls"] === undefined) {
    changed.serializeImagePulls = (filled.maxParallelImagePulls ?? 0) < 2;
  }
  const backOff = isJsonObject(given["crashLoopBackOff"]) ? given["crashLoopBackOff"] : {};
  if (!isOn("KubeletCrashLoopBackOffMax") && backOff["maxContainerRestartPeriod"] === undefined) {
    changed.crashLoopBackOff = {};
  }
  if (!isOn("KubeletEnsureSecretPulledImages") && !given["imagePullCredentialsVerificationPolicy"]) {
    changed.imagePullCredentialsVerificationPolicy = "";
  }
  return changed;
}

/** Returns the complete configuration; `evictionHard` is not defaulted. */
export function defaultConfiguration(given: PartialConfiguration, isOn: GateEnabled): KubeletConfiguration {
  // The tree of fields is checked against the interface at compile time, so the filled object has its type.
  const filled = fillMembers(CONFIG_TREE, given) as unknown as KubeletConfiguration;
  return { ...filled, ...dependentDefaults(given, filled, isOn) };
}

/**
 * Adds the default hard eviction thresholds: to a configuration file without any, or to its own when it asks to merge.
 */
export function withDefaultEviction(given: PartialConfiguration): PartialConfiguration {
  const own = given["evictionHard"];
  if (!isJsonObject(own)) return { ...given, evictionHard: DEFAULT_EVICTION_HARD };
  if (given["mergeDefaultEvictionSettings"] !== true) return given;
  return { ...given, evictionHard: { ...DEFAULT_EVICTION_HARD, ...own } };
}

/**
 * Applies the defaults of flags, which hold when there is no configuration file.
 * Differs from upstream: the read-only port stays off unless set, and servers listen on the loopback interface unless
 * an address is given, since these defaults allow unauthenticated access.
 */
export function withLegacyDefaults(config: KubeletConfiguration): KubeletConfiguration {
  return {
    ...config,
    address: "127.0.0.1",
    authentication: {
      ...config.authentication,
      anonymous: { enabled: true },
      webhook: { ...config.authentication.webhook, enabled: false },
    },
    authorization: { ...config.authorization, mode: "AlwaysAllow" },
  };
}
