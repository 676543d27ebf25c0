/**
 * Resolves feature gates from the settings of flags and files: values, problems, warnings. Upstream:
 * featureGate.SetFromMap.
 */
import { closestName } from "../core/config/closestName.ts";
import { FEATURE_GATES, GATE_DEPENDENCIES } from "./gateTable.ts";

/** An unknown gate, or a value that a gate cannot have. */
export interface GateProblem {
  readonly gate: string;
  readonly reason: string;
}

/** The value of every known gate, and the problems. */
export interface ResolvedGates {
  readonly gates: ReadonlyMap<string, boolean>;
  readonly problems: readonly GateProblem[];
  /** Gates set although they are GA or deprecated: one line each. */
  readonly warnings: readonly string[];
}

const ALL_OF_STAGE = [
  ["AllAlpha", "ALPHA"],
  ["AllBeta", "BETA"],
] as const;

function gateFault(name: string, value: boolean): string | undefined {
  const gate = FEATURE_GATES.get(name);
  if (gate === undefined) {
    const guess = closestName(name, FEATURE_GATES.keys());
    return guess === undefined ? "unknown feature gate" : `unknown feature gate; did you mean ${guess}?`;
  }
  return gate.locked && gate.default !== value ? `cannot be ${value}: it is locked to ${gate.default}` : undefined;
}

/** Resolves `settings`. A setting of a single gate overrides AllAlpha and AllBeta. */
export function resolveFeatureGates(settings: Readonly<Record<string, boolean>>): ResolvedGates {
  const problems: GateProblem[] = [];
  const warnings: string[] = [];
  const gates = new Map([...FEATURE_GATES].map(([name, gate]) => [name, gate.default]));
  for (const [all, stage] of ALL_OF_STAGE) {
    const value = settings[all];
    if (value === undefined) continue;
    for (const [name, gate] of FEATURE_GATES) if (gate.stage === stage && !gate.locked) gates.set(name, value);
  }
  for (const name of ["AllAlpha", "AllBeta"]) gates.set(name, settings[name] ?? false);
  for (const [name, value] of Object.entries(settings)) {
    const reason = gateFault(name, value);
    if (reason !== undefined) {
      problems.push({ gate: name, reason });
      continue;
    }
    gates.set(name, value);
    const stage = FEATURE_GATES.get(name)?.stage;
    if (stage === "GA" || stage === "DEPRECATED") {
      const word = stage === "GA" ? "GA" : "deprecated";
      warnings.push(`the feature gate ${name} is ${word} and will be removed in a later release`);
    }
  }
  if (problems.length === 0) problems.push(...dependencyProblems(gates));
  return { gates, problems, warnings };
}

function dependencyProblems(gates: ReadonlyMap<string, boolean>): readonly GateProblem[] {
  return Object.entries(GATE_DEPENDENCIES).flatMap(([gate, needed]) => {
    const off = gates.get(gate) === true ? needed.filter((name) => gates.get(name) !== true) : [];
    return off.length === 0 ? [] : [{ gate, reason: `is on, but needs ${off.join(", ")}, which is off` }];
  });
}
