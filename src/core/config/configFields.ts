/**
 * The field table of KubeletConfiguration: one row per field, joined from four parts. Its type makes it complete: a
 * field without a row, or a row without a field, does not compile.
 */
import type { ConfigField } from "./configField.ts";
import type { ConfigPath } from "./kubeletConfiguration.ts";
import { NODE_FIELDS } from "./nodeFields.ts";
import { POD_FIELDS } from "./podFields.ts";
import { RESOURCE_FIELDS } from "./resourceFields.ts";
import { SERVER_FIELDS } from "./serverFields.ts";

/** All fields by path. */
export const CONFIG_FIELDS: Readonly<Record<ConfigPath, ConfigField>> = {
  ...SERVER_FIELDS,
  ...POD_FIELDS,
  ...RESOURCE_FIELDS,
  ...NODE_FIELDS,
};

/** The paths of the table, in order. */
export const CONFIG_PATHS = Object.keys(CONFIG_FIELDS) as readonly ConfigPath[];

/** A field with its children: members of an object, or members of a list's elements. */
export interface FieldNode {
  readonly path: ConfigPath;
  readonly field: ConfigField;
  readonly children: ReadonlyMap<string, FieldNode>;
}

function childrenOf(prefix: string): ReadonlyMap<string, FieldNode> {
  const nodes = new Map<string, FieldNode>();
  for (const path of CONFIG_PATHS) {
    if (!path.startsWith(prefix)) continue;
    const name = path.slice(prefix.length);
    if (name.includes(".")) continue;
    const field = CONFIG_FIELDS[path];
    const nested = field.type === "object" ? `${path}.` : field.type === "[]object" ? `${path}[].` : undefined;
    nodes.set(name, { path, field, children: nested === undefined ? new Map() : childrenOf(nested) });
  }
  return nodes;
}

/** The root of the tree of fields. */
export const CONFIG_TREE: ReadonlyMap<string, FieldNode> = childrenOf("");
