/** Validates fields against each other: cgroups, reservations, allocatable enforcement, CPU and NUMA memory, swap. */
import { quantityHint } from "../meantQuantity.ts";
import { parseQuantity } from "../quantity.ts";
import type { ConfigProblem, FieldPath } from "./configProblem.ts";
import type { GateEnabled } from "./defaultConfiguration.ts";
import type { KubeletConfiguration } from "./kubeletConfiguration.ts";
import { isNumaMemoryResource } from "./nodeNames.ts";
import { validatePolicyOptions } from "./policyOptions.ts";

const RESERVABLE = ["cpu", "memory", "ephemeral-storage", "pid"];
const ENFORCEMENTS = [
  "pods",
  "system-reserved",
  "system-reserved-compressible",
  "kube-reserved",
  "kube-reserved-compressible",
  "none",
];

/** Returns the problems of the node's resources. */
export function validateResources(config: KubeletConfiguration, isOn: GateEnabled): readonly ConfigProblem[] {
  return [
    ...cgroups(config),
    ...reserved(["systemReserved"], config.systemReserved),
    ...reserved(["kubeReserved"], config.kubeReserved),
    ...qosReserved(config, isOn),
    ...enforcement(config),
    ...reservedMemory(config),
    ...memory(config, isOn),
    ...validatePolicyOptions(config, isOn),
  ];
}

function cgroups(config: KubeletConfiguration): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (config.systemCgroups === "/")
    problems.push({ path: ["systemCgroups"], reason: 'system container cannot be root ("/")' });
  if (config.systemCgroups !== "" && config.cgroupRoot === "") {
    problems.push({ path: ["systemCgroups"], reason: "needs cgroupRoot to be set" });
  }
  if (config.reservedSystemCPUs !== "" && (config.systemReservedCgroup !== "" || config.kubeReservedCgroup !== "")) {
    const reason = "cannot be used together with systemReservedCgroup or kubeReservedCgroup";
    problems.push({ path: ["reservedSystemCPUs"], reason });
  }
  return problems;
}

function reserved(path: FieldPath, amounts: Readonly<Record<string, string>>): readonly ConfigProblem[] {
  return Object.entries(amounts).flatMap(([name, text]): readonly ConfigProblem[] => {
    if (!RESERVABLE.includes(name)) {
      return [{ path: [...path, name], reason: `cannot be reserved; only ${RESERVABLE.join(", ")} can` }];
    }
    const quantity = parseQuantity(text);
    if (quantity !== undefined && quantity.nano >= 0n) return [];
    const reason = `must be a quantity of 0 or more, got ${JSON.stringify(text)}${quantityHint(text)}`;
    return [{ path: [...path, name], reason }];
  });
}

function qosReserved(config: KubeletConfiguration, isOn: GateEnabled): readonly ConfigProblem[] {
  const entries = Object.entries(config.qosReserved);
  if (entries.length > 0 && !isOn("QOSReserved")) {
    return [{ path: ["qosReserved"], reason: "needs the feature gate QOSReserved" }];
  }
  return entries.flatMap(([name, text]) => {
    if (name !== "memory") return [{ path: ["qosReserved", name], reason: "cannot be reserved; only memory can" }];
    const percent = /^(\d{1,3})%$/.exec(text)?.[1];
    if (percent !== undefined && Number(percent) <= 100) return [];
    return [{ path: ["qosReserved", name], reason: `must be between 0% and 100%, got ${JSON.stringify(text)}` }];
  });
}

function enforcement(config: KubeletConfiguration): readonly ConfigProblem[] {
  const path = ["enforceNodeAllocatable"];
  const wanted = config.enforceNodeAllocatable;
  const problems: ConfigProblem[] = [];
  for (const group of ["system-reserved", "kube-reserved"]) {
    if (!wanted.includes(group) || !wanted.includes(`${group}-compressible`)) continue;
    problems.push({ path, reason: `cannot hold both ${group} and ${group}-compressible` });
  }
  for (const [index, key] of wanted.entries()) {
    const reason = enforcementFault(config, key, index);
    if (reason !== undefined) problems.push({ path: [...path, index], reason });
  }
  return problems;
}

function enforcementFault(config: KubeletConfiguration, key: string, index: number): string | undefined {
  if (config.enforceNodeAllocatable.indexOf(key) < index) return `${key} is named twice`;
  if (!ENFORCEMENTS.includes(key)) return `must be one of ${ENFORCEMENTS.join(", ")}, got ${JSON.stringify(key)}`;
  if (key === "none") {
    return config.enforceNodeAllocatable.length > 1 ? "none cannot be combined with anything else" : undefined;
  }
  if (key.startsWith("system-reserved") && config.systemReservedCgroup === "") {
    return `${key} needs systemReservedCgroup to be set`;
  }
  if (key.startsWith("kube-reserved") && config.kubeReservedCgroup === "") {
    return `${key} needs kubeReservedCgroup to be set`;
  }
  return config.cgroupsPerQOS ? undefined : `${key} needs cgroupsPerQOS to be true`;
}

function reservedMemory(config: KubeletConfiguration): readonly ConfigProblem[] {
  const seen = new Set<string>();
  const problems: ConfigProblem[] = [];
  for (const [index, { numaNode, limits }] of config.reservedMemory.entries()) {
    for (const [name, text] of Object.entries(limits)) {
      const path = ["reservedMemory", index, "limits", name];
      if (!isNumaMemoryResource(name)) problems.push({ path, reason: "must be memory or hugepages-<size>" });
      if (parseQuantity(text)?.nano === 0n) problems.push({ path, reason: "must not be 0" });
      if (seen.has(`${numaNode}/${name}`)) problems.push({ path, reason: `is set twice for NUMA node ${numaNode}` });
      seen.add(`${numaNode}/${name}`);
    }
  }
  return problems;
}

function memory(config: KubeletConfiguration, isOn: GateEnabled): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (config.memoryReservationPolicy === "TieredReservation" && !isOn("MemoryQoS")) {
    const reason = "TieredReservation needs the feature gate MemoryQoS";
    problems.push({ path: ["memoryReservationPolicy"], reason });
  }
  const { swapBehavior } = config.memorySwap;
  if (!["", "NoSwap", "LimitedSwap"].includes(swapBehavior)) {
    const reason = `must be empty, NoSwap or LimitedSwap, got ${JSON.stringify(swapBehavior)}`;
    problems.push({ path: ["memorySwap", "swapBehavior"], reason });
  }
  return problems;
}
