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
  const problems: ConfigProblem[] = [];
  checkMembers(problems, [], CONFIG_TREE, config as unknown as Readonly<Record<string, unknown>>);
  problems.push(
    ...validatePods(config, isOn),
    ...validateResources(config, isOn),
    ...validateEviction(config),
    ...validateNode(config, isOn),
    ...validateLogging(config.logging, isOn),
  );
  return problems;
}

function checkMembers(
  problems: ConfigProblem[],
  path: FieldPath,
  nodes: ReadonlyMap<string, FieldNode>,
  value: Readonly<Record<string, unknown>>,
): void {
  for (const [name, node] of nodes) checkNode(problems, [...path, name], node, value[name]);
}

function checkNode(problems: ConfigProblem[], path: FieldPath, node: FieldNode, value: unknown): void {
  if (value === undefined) return;
  if (node.field.type === "object" && isJsonObject(value)) checkMembers(problems, path, node.children, value);
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    for (const [index, item] of items.entries()) {
      if (isJsonObject(item)) checkMembers(problems, [...path, index], node.children, item);
      else checkRule(problems, [...path, index], node, item);
    }
    return;
  }
  checkRule(problems, path, node, value);
}

function checkRule(problems: ConfigProblem[], path: FieldPath, node: FieldNode, value: unknown): void {
  const reason = node.field.rule === undefined ? undefined : ruleFault(node.field.rule, value);
  if (reason !== undefined) problems.push({ path, reason });
}
