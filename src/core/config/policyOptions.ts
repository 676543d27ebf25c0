/**
 * Options of the CPU and topology policies, as written in the configuration. Upstream: policy_options.go of cpumanager and
 * topologymanager.
 */
import type { CpuPolicyOptions } from "../cpu/cpuPolicy.ts";
import { MAX_NUMA_NODES } from "../topology/numaMask.ts";
import type { ConfigProblem } from "./configProblem.ts";
import type { GateEnabled } from "./defaultConfiguration.ts";
import type { KubeletConfiguration } from "./kubeletConfiguration.ts";

/** Options of the topology manager. */
export interface TopologyOptions {
  /** prefer-closest-numa-nodes. */
  readonly prefersClosest: boolean;
  /** max-allowable-numa-nodes. */
  readonly maxNodes: number;
}

/** Upstream's default of max-allowable-numa-nodes, and the least allowed value. */
const DEFAULT_MAX_NODES = 8;

const CPU_OPTIONS = {
  "full-pcpus-only": { field: "fullCores", gate: undefined },
  "distribute-cpus-across-numa": { field: "acrossNodes", gate: "CPUManagerPolicyBetaOptions" },
  "align-by-socket": { field: "bySocket", gate: "CPUManagerPolicyAlphaOptions" },
  "distribute-cpus-across-cores": { field: "acrossCores", gate: "CPUManagerPolicyAlphaOptions" },
  "strict-cpu-reservation": { field: "strictReservation", gate: undefined },
  "prefer-align-cpus-by-uncorecache": { field: "alignsByCache", gate: undefined },
} as const satisfies Readonly<
  Record<string, { readonly field: keyof CpuPolicyOptions; readonly gate: string | undefined }>
>;

type CpuOptionName = keyof typeof CPU_OPTIONS;

const CPU_OPTION_NAMES = Object.keys(CPU_OPTIONS) as CpuOptionName[];

/** Pairs that upstream refuses. */
const INCOMPATIBLE: readonly (readonly [CpuOptionName, CpuOptionName])[] = [
  ["full-pcpus-only", "distribute-cpus-across-cores"],
  ["distribute-cpus-across-numa", "distribute-cpus-across-cores"],
  ["prefer-align-cpus-by-uncorecache", "distribute-cpus-across-cores"],
  ["prefer-align-cpus-by-uncorecache", "distribute-cpus-across-numa"],
];

const TRUE = ["1", "t", "T", "true", "TRUE", "True"];
const FALSE = ["0", "f", "F", "false", "FALSE", "False"];

const isTrue = (text: string | undefined): boolean => text !== undefined && TRUE.includes(text);

type Config = Pick<
  KubeletConfiguration,
  "cpuManagerPolicy" | "cpuManagerPolicyOptions" | "topologyManagerPolicy" | "topologyManagerPolicyOptions"
>;

/** Reads the options of a configuration without problems. */
export function parsePolicyOptions({ cpuManagerPolicyOptions: cpu, topologyManagerPolicyOptions: topology }: Config): {
  readonly cpu: CpuPolicyOptions;
  readonly topology: TopologyOptions;
} {
  return {
    cpu: Object.fromEntries(
      CPU_OPTION_NAMES.map((name) => [CPU_OPTIONS[name].field, isTrue(cpu[name])]),
    ) as unknown as CpuPolicyOptions,
    topology: {
      prefersClosest: isTrue(topology["prefer-closest-numa-nodes"]),
      maxNodes: Number(topology["max-allowable-numa-nodes"] ?? DEFAULT_MAX_NODES),
    },
  };
}

/** Returns the problems of the options. */
export function validatePolicyOptions(config: Config, isOn: GateEnabled): readonly ConfigProblem[] {
  return [...cpuProblems(config, isOn), ...topologyProblems(config)];
}

function cpuProblems(config: Config, isOn: GateEnabled): readonly ConfigProblem[] {
  const { cpuManagerPolicy: policy, cpuManagerPolicyOptions: options, topologyManagerPolicy } = config;
  const at = (name: string, reason: string): ConfigProblem => ({ path: ["cpuManagerPolicyOptions", name], reason });
  const names = Object.keys(options);
  if (policy !== "static") return names.map((name) => at(name, "needs cpuManagerPolicy static"));
  const problems = names.flatMap((name): readonly ConfigProblem[] => {
    const known = CPU_OPTION_NAMES.find((each) => each === name);
    if (known === undefined) return [at(name, `is unknown; options are ${CPU_OPTION_NAMES.join(", ")}`)];
    const { gate } = CPU_OPTIONS[known];
    if (gate !== undefined && !isOn(gate)) return [at(name, `needs the feature gate ${gate}`)];
    return isBoolean(options[name]) ? [] : [at(name, notBoolean(options[name]))];
  });
  const pairs = INCOMPATIBLE.filter((pair) => pair.every((name) => isTrue(options[name])));
  const clashes = pairs.map(([name, other]) => at(name, `cannot be used together with ${other}`));
  const isUnaligned = isTrue(options["align-by-socket"]) && topologyManagerPolicy === "single-numa-node";
  const unaligned = isUnaligned
    ? [at("align-by-socket", "cannot be used together with topologyManagerPolicy single-numa-node")]
    : [];
  return [...problems, ...clashes, ...unaligned];
}

function topologyProblems({
  topologyManagerPolicy,
  topologyManagerPolicyOptions: options,
}: Config): readonly ConfigProblem[] {
  if (topologyManagerPolicy === "none") return [];
  const at = (name: string, reason: string): ConfigProblem => ({
    path: ["topologyManagerPolicyOptions", name],
    reason,
  });
  return Object.entries(options).flatMap(([name, text]): readonly ConfigProblem[] => {
    switch (name) {
      case "prefer-closest-numa-nodes":
        return isBoolean(text) ? [] : [at(name, notBoolean(text))];
      case "max-allowable-numa-nodes": {
        const isNumber = /^\d{1,9}$/.test(text) && Number(text) >= DEFAULT_MAX_NODES;
        if (!isNumber) return [at(name, `must be a number of at least ${DEFAULT_MAX_NODES}, got "${text}"`)];
        // Differs from upstream: no other bound there, and a merge of the hints of 20 nodes takes minutes.
        return Number(text) <= MAX_NUMA_NODES ? [] : [at(name, `must be at most ${MAX_NUMA_NODES}, got "${text}"`)];
      }
      default:
        return [at(name, "is unknown; options are prefer-closest-numa-nodes, max-allowable-numa-nodes")];
    }
  });
}

const isBoolean = (text: string | undefined): boolean => text !== undefined && [...TRUE, ...FALSE].includes(text);
const notBoolean = (text: string | undefined): string => `must be true or false, got "${text ?? ""}"`;
