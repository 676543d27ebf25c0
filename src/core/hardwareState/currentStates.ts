/** The contents of both state files: the CPUs and memory that the pods of a node have now. */
import { cpuSetText } from "../cpu/cpuSet.ts";
import { blocksOf } from "../numaMemory/memoryBlock.ts";
import type { MemoryPolicy } from "../numaMemory/memoryPolicy.ts";
import { idsOfMask, unusedMemory, withBlocks } from "../numaMemory/memoryUse.ts";
import type { Registry } from "../pod/podRegistryTypes.ts";
import { type ContainerHardware, type PodHardware, WHOLE_POD } from "../topology/hardware.ts";
import { hardwareByPod, type NodeHardware, sharedCpusText } from "../topology/nodeHardware.ts";
import type { CpuState } from "./cpuState.ts";
import type { MemoryNodeState, MemoryState, StateBlock } from "./memoryState.ts";

/** Pods with their hardware by UID. */
type Pods = ReadonlyMap<string, PodHardware>;

/** Returns the state of the CPUs; `hardware` is undefined on a node that gives containers none. */
export function currentCpuState(hardware: NodeHardware | undefined, registry: Registry): CpuState {
  if (hardware?.cpus === undefined)
    return { policy: "none", sharedCpus: "", entries: new Map(), podEntries: new Map() };
  return {
    policy: "static",
    sharedCpus: sharedCpusText(hardware, registry),
    entries: entriesOf(hardwareByPod(registry), ({ cpus }) => cpus && cpuSetText(cpus)),
    podEntries: wholePods(hardwareByPod(registry), ({ cpus }) => cpus && cpuSetText(cpus)),
  };
}

/** Returns the state of the memory. */
export function currentMemoryState(hardware: NodeHardware | undefined, registry: Registry): MemoryState {
  const none = { nodes: new Map(), entries: new Map(), podEntries: new Map() };
  if (hardware?.memory === undefined) return { policy: "None", ...none };
  const pods = hardwareByPod(registry);
  const blocks = ({ memory }: ContainerHardware, isWhole: boolean) =>
    memory?.map(({ nodes, resource, bytes, heldBytes }): StateBlock => {
      // The pod as a whole holds the memory of its containers.
      return { nodes, resource, bytes: isWhole ? bytes : heldBytes };
    });
  const entries = entriesOf(pods, blocks);
  const podEntries = wholePods(pods, (hardware) => blocks(hardware, true));
  return { ...none, policy: "Static", nodes: nodeStates(hardware.memory, pods), entries, podEntries };
}

/** Returns what pods have as a whole. */
const wholePods = <V>(pods: Pods, of: (hardware: ContainerHardware) => V | undefined): ReadonlyMap<string, V> =>
  new Map(
    [...pods].flatMap(([uid, pod]) => {
      const whole = pod.get(WHOLE_POD);
      const value = whole && of(whole);
      return value === undefined ? [] : [[uid, value] as const];
    }),
  );

/** Returns what containers have, without containers and pods that have nothing. */
function entriesOf<V>(
  pods: Pods,
  of: (hardware: ContainerHardware, isOfWhole: boolean) => V | undefined,
): ReadonlyMap<string, ReadonlyMap<string, V>> {
  const entries = new Map<string, ReadonlyMap<string, V>>();
  for (const [uid, pod] of pods) {
    const containers = [...pod].flatMap(([name, hardware]) => {
      const value = name === WHOLE_POD ? undefined : of(hardware, pod.has(WHOLE_POD));
      return value === undefined ? [] : [[name, value] as const];
    });
    if (containers.length > 0) entries.set(uid, new Map(containers));
  }
  return entries;
}

function nodeStates(policy: MemoryPolicy, pods: Pods): ReadonlyMap<string, MemoryNodeState> {
  const uses = withBlocks(policy, unusedMemory(policy), blocksOf(pods.values()));
  return new Map(
    policy.nodes.map(({ id, amounts }, index) => {
      const use = uses[index];
      const memory = [...amounts].map(([resource, amount]) => {
        const free = use?.free.get(resource) ?? 0;
        return [resource, { ...amount, free, reserved: amount.allocatable - free }] as const;
      });
      const cells = idsOfMask(policy, use?.group ?? 0);
      return [String(id), { assignments: use?.blocks ?? 0, memory: new Map(memory), cells }] as const;
    }),
  );
}
