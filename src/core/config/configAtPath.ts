/** Reads and replaces single fields of a configuration by their table path. */
import type { ConfigPath, KubeletConfiguration } from "./kubeletConfiguration.ts";
import { isMap } from "./configProblem.ts";

/** The value at a path without list parts; undefined when a pointer on the way is unset. */
export function configAt(config: KubeletConfiguration, path: ConfigPath): unknown {
  let value: unknown = config;
  for (const name of path.split(".")) value = isMap(value) ? value[name] : undefined;
  return value;
}

function replaced(value: unknown, names: readonly string[], leaf: unknown): unknown {
  const [name, ...rest] = names;
  if (name === undefined) return leaf;
  const members = isMap(value) ? value : {};
  return { ...members, [name]: replaced(members[name], rest, leaf) };
}

/** The configuration with one field replaced; `leaf` must have the field's decoded type. */
export function withConfigAt(config: KubeletConfiguration, path: ConfigPath, leaf: unknown): KubeletConfiguration {
  return replaced(config, path.split("."), leaf) as KubeletConfiguration;
}
