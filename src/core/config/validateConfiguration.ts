/**
 * Validates a complete configuration: each field against its rule, then fields against each other and against the
 * feature gates. Reports all problems. Checks against the machine are in hostFault.
 * Upstream: ValidateKubeletConfiguration, and the checks of its components at startup.
 */
import { ruleFault } from "./checkField.ts";
import { CONFIG_TREE, type FieldNode } from "./configFields.ts";
import { type ConfigProblem, type FieldPath } from "./configProblem.ts";
import type { GateEnabled } from "./defaultConfiguration.ts";
import type { KubeletConfiguration } from "./kubeletConfiguration.ts";
import { validateEviction } from "./validateEviction.ts";
import { validateLogging } from "./validateLogging.ts";
import { validateNode } from "./validateNode.ts";
import { validatePods } from "./validatePods.ts";
import { validateResources } from "./validateReservations.ts";
import { isJsonObject } from "../json.ts";

/** Returns all problems of a configuration, those of single fields first. */
export function validateConfiguration(config: KubeletConfiguration, isOn: GateEnabled): readonly ConfigProblem[] {
  return [
    ...checkMembers([], CONFIG_TREE, config as unknown as Readonly<Record<string, unknown>>),
    ...validatePods(config, isOn),
    ...validateResources(config, isOn),
    ...validateEviction(config),
    ...validateNode(config, isOn),
    ...validateLogging(config.logging, isOn),
  ];
}

function* checkMembers(
  path: FieldPath,
  nodes: ReadonlyMap<string, FieldNode>,
  value: Readonly<Record<string, unknown>>,
): Iterable<ConfigProblem> {
  for (const [name, node] of nodes) yield* checkNode([...path, name], node, value[name]);
}

function* checkNode(path: FieldPath, node: FieldNode, value: unknown): Iterable<ConfigProblem> {
  if (value === undefined) return;
  if (node.field.type === "object" && isJsonObject(value)) yield* checkMembers(path, node.children, value);
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    for (const [index, item] of items.entries()) {
      if (isJsonObject(item)) yield* checkMembers([...path, index], node.children, item);
      else yield* checkRule([...path, index], node, item);
    }
    return;
  }
  yield* checkRule(path, node, value);
}

function* checkRule(path: FieldPath, node: FieldNode, value: unknown): Iterable<ConfigProblem> {
  const reason = node.field.rule === undefined ? undefined : ruleFault(node.field.rule, value);
  if (reason !== undefined) yield { path, reason };
}
