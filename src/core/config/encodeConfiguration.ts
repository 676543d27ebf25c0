/**
 * Encodes a configuration in its wire form, for /configz and for merging drop-ins: durations in Go's format, zero
 * values omitted where upstream omits them.
 */
import { CONFIG_TREE, type FieldNode } from "./configFields.ts";
import { CONFIG_API_VERSION, CONFIG_KIND } from "./decodeConfiguration.ts";
import { zeroOf } from "./defaultConfiguration.ts";
import { formatDuration } from "./duration.ts";
import type { ConfigPath, KubeletConfiguration } from "./kubeletConfiguration.ts";
import { isJsonObject } from "../json.ts";

/** Non-pointer fields that are written even when zero, besides durations, quantities and objects. */
const ALWAYS_WRITTEN: ReadonlySet<ConfigPath> = new Set<ConfigPath>([
  "containerRuntimeEndpoint",
  "logging.verbosity",
  "logging.vmodule[].filePattern",
  "logging.vmodule[].verbosity",
  "registerWithTaints[].key",
  "registerWithTaints[].effect",
  "reservedMemory[].numaNode",
  "reservedMemory[].limits",
  "shutdownGracePeriodByPodPriority[].priority",
  "shutdownGracePeriodByPodPriority[].shutdownGracePeriodSeconds",
]);

const isEmpty = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0;

function encode(node: FieldNode, value: unknown): unknown {
  if (value === undefined) return undefined;
  const { type, pointer } = node.field;
  switch (type) {
    case "object":
      return encodeMembers(node.children, isJsonObject(value) ? value : {});
    case "duration":
      return formatDuration(Number(value));
    case "quantity":
      return value;
    case "[]object": {
      if (!Array.isArray(value) || value.length === 0) return undefined;
      const items: readonly unknown[] = value;
      return items.map((item) => encodeMembers(node.children, isJsonObject(item) ? item : {}));
    }
    default:
      if (pointer || ALWAYS_WRITTEN.has(node.path)) return value;
      return value === zeroOf(type) || isEmpty(value) ? undefined : value;
  }
}

function encodeMembers(nodes: ReadonlyMap<string, FieldNode>, value: Readonly<Record<string, unknown>>) {
  const entries = [...nodes].map(([name, node]): [string, unknown] => [name, encode(node, value[name])]);
  return Object.fromEntries(entries.filter(([, encoded]) => encoded !== undefined));
}

/**
 * Returns the document with apiVersion and kind. It contains the header values of the manifest URL: mask them before
 * display.
 */
export function encodeConfiguration(config: KubeletConfiguration): Readonly<Record<string, unknown>> {
  const members = encodeMembers(CONFIG_TREE, config as unknown as Readonly<Record<string, unknown>>);
  return { kind: CONFIG_KIND, apiVersion: CONFIG_API_VERSION, ...members };
}
