/**
 * Fills a partial configuration with defaults. As upstream, a plain (not pointer) field that is zero counts as unset:
 * `port: 0` means 10250. Lists and maps are unset only when absent.
 * Upstream: SetDefaults_KubeletConfiguration, and the eviction defaults of loadConfigFile.
 */
import type { FieldType } from "./configField.ts";
import { CONFIG_TREE, type FieldNode } from "./configFields.ts";
import { isMap } from "./configProblem.ts";
import type { PartialConfiguration } from "./decodeConfiguration.ts";
import { DEFAULT_EVICTION_HARD } from "./evictionDefaults.ts";
import type { KubeletConfiguration } from "./kubeletConfiguration.ts";

/** Tells whether a feature gate is on. */
export type GateEnabled = (name: string) => boolean;

/** The zero of a wire type. */
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
    return fillMembers(node.children, isMap(value) ? value : {});
  }
  if (type === "[]object") {
    const items: readonly unknown[] = Array.isArray(value) ? value : [];
    return items.map((item) => fillMembers(node.children, isMap(item) ? item : {}));
  }
  const isUnset = value === undefined || (!pointer && value === zeroOf(type));
  if (!isUnset) return value;
  // Its default is that of a configuration file, see withDefaultEviction.
  if (node.path === "evictionHard") return {};
  return node.field.default ?? (pointer ? undefined : zeroOf(type));
}

function fillMembers(nodes: ReadonlyMap<string, FieldNode>, value: PartialConfiguration): Record<string, unknown> {
  const entries = [...nodes].map(([name, node]): [string, unknown] => [name, fill(node, value[name])]);
  return Object.fromEntries(entries.filter(([, filled]) => filled !== undefined));
}

/** Defaults that depend on other fields or on gates. */
function dependentDefaults(given: PartialConfiguration, filled: KubeletConfiguration, isOn: GateEnabled) {
  const changed: { -readonly [Key in keyof KubeletConfiguration]?: KubeletConfiguration[Key] } = {};
  // Reporting follows updating when only updating was set.
  if (!given["nodeStatusReportFrequency"] && given["nodeStatusUpdateFrequency"]) {
    changed.nodeStatusReportFrequency = filled.nodeStatusUpdateFrequency;
  }
  if (filled.podPidsLimit < 0) changed.podPidsLimit = -1;
  if (given["serializeImagePulls"] === undefined) {
    changed.serializeImagePulls = (filled.maxParallelImagePulls ?? 0) < 2;
  }
  const backOff = isMap(given["crashLoopBackOff"]) ? given["crashLoopBackOff"] : {};
  if (!isOn("KubeletCrashLoopBackOffMax") && backOff["maxContainerRestartPeriod"] === undefined) {
    changed.crashLoopBackOff = {};
  }
  if (!isOn("KubeletEnsureSecretPulledImages") && !given["imagePullCredentialsVerificationPolicy"]) {
    changed.imagePullCredentialsVerificationPolicy = "";
  }
  return changed;
}

/** The complete configuration a partial one stands for. `evictionHard` stays as given. */
export function defaultConfiguration(given: PartialConfiguration, isOn: GateEnabled): KubeletConfiguration {
  // The tree of fields is checked against the interface at compile time, so what it fills has that shape.
  const filled = fillMembers(CONFIG_TREE, given) as unknown as KubeletConfiguration;
  return { ...filled, ...dependentDefaults(given, filled, isOn) };
}

/** The hard thresholds of a configuration file: the defaults when it has none, and with them when it asks to merge. */
export function withDefaultEviction(given: PartialConfiguration): PartialConfiguration {
  const own = given["evictionHard"];
  if (!isMap(own)) return { ...given, evictionHard: DEFAULT_EVICTION_HARD };
  if (given["mergeDefaultEvictionSettings"] !== true) return given;
  return { ...given, evictionHard: { ...DEFAULT_EVICTION_HARD, ...own } };
}

/**
 * What holds without a configuration file: the defaults the flags always had, before the file existed.
 * Differs from upstream: the read-only port stays off until somebody asks for it, and servers listen on loopback unless
 * an address is given: these defaults let anybody do anything.
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
