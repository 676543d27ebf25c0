/** The hardware of a node that containers can have for themselves, and what is left for all others. */
import type { Container, Pod } from "../api.ts";
import { cpuManager } from "../cpu/cpuManager.ts";
import { type CpuPolicy, exclusiveCpuCount, sharedCpus } from "../cpu/cpuPolicy.ts";
import { type CpuSet, cpuSet, cpuSetText, NO_CPUS } from "../cpu/cpuSet.ts";
import type { MemoryPolicy } from "../numaMemory/memoryPolicy.ts";
import { memoryManager } from "../numaMemory/memoryManager.ts";
import type { PodUid } from "../ids.ts";
import { hasPodLevelResources } from "../pod/resourceNames.ts";
import type { Registry } from "../pod/podRegistryTypes.ts";
import type { PodRuntimeStatus } from "../runtime/podRuntimeStatus.ts";
import { hardwareOf, type ResourceManager, type TopologyPolicy } from "./assignHardware.ts";
import type { AssignHardware, PodHardware } from "./hardware.ts";

/** The NUMA nodes of the machine, and the policy by which hardware is placed on them. */
export interface NodeTopology {
  /** Ids of the nodes, ascending. */
  readonly nodeIds: readonly number[];
  readonly policy: TopologyPolicy;
}

/** Present on a node with the static policy of the CPU or the memory manager. */
export interface NodeHardware {
  /** undefined: policy none, all containers run on all CPUs. */
  readonly cpus: CpuPolicy | undefined;
  /** undefined: policy None, the memory of all containers may be anywhere. */
  readonly memory: MemoryPolicy | undefined;
  /** Gives out CPUs and memory alone. */
  readonly assign: AssignHardware;
  /** Gives out CPUs, memory and what other managers have. */
  readonly assignWith: (managers: readonly ResourceManager[]) => AssignHardware;
  /** The gate DisableCPUQuotaWithExclusiveCPUs: a container with CPUs of its own, and its pod, have no CPU quota. */
  readonly liftsCpuQuota: boolean;
  /** How often the CPUs of running containers are compared with what they should be. */
  readonly reconcilePeriodMs: number;
}

/** Returns the hardware of a node. `nodeIds`: ids of its NUMA nodes, ascending. */
export const nodeHardware = (
  { cpus, memory }: Pick<NodeHardware, "cpus" | "memory">,
  nodeIds: readonly number[],
  topologyPolicy: TopologyPolicy,
  settings: Pick<NodeHardware, "liftsCpuQuota" | "reconcilePeriodMs">,
): NodeHardware => {
  const own = [
    ...(cpus === undefined ? [] : [cpuManager(cpus, nodeIds)]),
    ...(memory === undefined ? [] : [memoryManager(memory)]),
  ];
  const assignWith = (managers: readonly ResourceManager[]) => hardwareOf(topologyPolicy, [...own, ...managers]);
  return { cpus, memory, assign: assignWith([]), assignWith, ...settings };
};

type Held = Pick<Registry, "records" | "restored" | "inherited">;

/** Returns the hardware of each pod, also of those of before a restart that no source has claimed yet. */
export const hardwareByPod = ({ records, restored, inherited }: Held): ReadonlyMap<PodUid, PodHardware> =>
  new Map([
    ...inherited,
    ...[...restored, ...records].flatMap(([uid, { hardware }]) =>
      hardware === undefined ? [] : [[uid, hardware] as const],
    ),
  ]);

/** Returns the CPUs that some container has for itself. */
export const exclusiveCpusOf = (held: Held): CpuSet =>
  cpuSet([...hardwareByPod(held).values()].flatMap((pod) => [...pod.values()].flatMap(({ cpus = NO_CPUS }) => cpus)));

/** Returns the CPUs that no container has for itself, as text; empty with policy none. */
export const sharedCpusText = ({ cpus }: NodeHardware, held: Held): string =>
  cpus === undefined ? "" : cpuSetText(sharedCpus(cpus, exclusiveCpusOf(held)));

/**
 * Returns the CPUs of containers that have none for themselves, as text; empty with policy none. Differs from upstream:
 * while strict-cpu-reservation leaves no CPU to share, they are the reserved ones. Upstream gives such a container no
 * CPU set, so it runs on all CPUs, also on those that another container has for itself.
 */
export const commonCpusText = (hardware: NodeHardware, held: Held): string =>
  sharedCpusText(hardware, held) || cpuSetText(hardware.cpus?.reserved ?? NO_CPUS);

/** Returns the CPUs of a container as text; undefined if it has none for itself. */
export const ownCpusText = (hardware: PodHardware | undefined, container: string): string | undefined => {
  const cpus = hardware?.get(container)?.cpus;
  return cpus && cpuSetText(cpus);
};

/** Whether a container with CPUs of its own has no CPU quota. A container that shares those of its pod has one. */
export const hasNoCpuQuota = (hardware: NodeHardware | undefined, pod: Pod, container: Container): boolean =>
  hardware?.cpus !== undefined && hardware.liftsCpuQuota && exclusiveCpuCount(pod, container, hardware.cpus) > 0;

/**
 * Whether a pod with this hardware has no CPU quota: some container has CPUs of its own. In a pod with pod-level CPUs,
 * all containers must have some: the others share CPUs of the pod, within its quota.
 */
export function podHasNoCpuQuota(node: NodeHardware | undefined, pod: Pod, given: PodHardware | undefined): boolean {
  if (node?.cpus === undefined || !node.liftsCpuQuota) return false;
  const hasCpus = ({ name }: Container): boolean => given?.get(name)?.cpus !== undefined;
  const containers = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  if (node.cpus.podLevel !== true || !hasPodLevelResources(pod)) return containers.some(hasCpus);
  return containers.every((container) => hasCpus(container) && hasNoCpuQuota(node, pod, container));
}

/** Whether the registry knows the hardware that an earlier kubelet process gave to pods. */
export const isRestored = ({ isSettled, unclaimed }: Registry): boolean => isSettled || unclaimed !== undefined;

/**
 * Returns the CPUs that each running container should run on, as text by container id. Empty until the registry knows the
 * CPUs of earlier pods: the shared ones would have those of containers that run alone.
 */
export function wantedCpus(
  hardware: NodeHardware,
  held: Registry,
  running: Iterable<readonly [PodUid, PodRuntimeStatus]>,
): ReadonlyMap<string, string> {
  if (!isRestored(held)) return new Map();
  const common = commonCpusText(hardware, held);
  const byPod = hardwareByPod(held);
  const wanted = new Map<string, string>();
  for (const [uid, { containers }] of running) {
    for (const { id, name, state } of containers) {
      if (state === "running") wanted.set(id, ownCpusText(byPod.get(uid), name) ?? common);
    }
  }
  return wanted;
}
