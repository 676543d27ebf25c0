/** Reads and replaces single fields of a configuration by their path in the field table. */
import type { ConfigPath, KubeletConfiguration } from "./kubeletConfiguration.ts";
import { isJsonObject } from "../json.ts";

/** Returns the value at a path without list elements; undefined when a parent is unset. */
export function configAt(config: KubeletConfiguration, path: ConfigPath): unknown {
  let value: unknown = config;
  for (const name of path.split(".")) value = isJsonObject(value) ? value[name] : undefined;
  return value;
}

function replaced(value: unknown, names: readonly string[], leaf: unknown): unknown {
  const [name, ...rest] = names;
  if (name === undefined) return leaf;
  const members = isJsonObject(value) ? value : {};
  return { ...members, [name]: replaced(members[name], rest, leaf) };
}

/** Returns the configuration with one field replaced; `leaf` must have the field's decoded type. */
export function withConfigAt(config: KubeletConfiguration, path: ConfigPath, leaf: unknown): KubeletConfiguration {
  return replaced(config, path.split("."), leaf) as KubeletConfiguration;
}
