/** Memory that containers have on NUMA nodes. Upstream: Block of pkg/kubelet/cm/memorymanager/state. */
import type { Pod } from "../api.ts";
import { isSidecar, podContainers } from "../pod/containers.ts";
import { type ContainerHardware, type MemoryBlock, type PodHardware, WHOLE_POD } from "../topology/hardware.ts";

export const NO_BLOCKS: readonly MemoryBlock[] = [];

export const sameNodes = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((id, index) => id === b[index]);

/** Returns the blocks of all containers of some pods, or of a pod as a whole in place of those of its containers. */
export const blocksOf = (pods: Iterable<PodHardware>): readonly MemoryBlock[] =>
  [...pods].flatMap(
    (pod) => pod.get(WHOLE_POD)?.memory ?? [...pod.values()].flatMap(({ memory = NO_BLOCKS }) => memory),
  );

/**
 * Returns the hardware of a pod with the parts of each block that count. Init containers have ended when the next
 * container starts, so each container uses the memory of those before it on the same nodes again; the rest stays held
 * until the pod has stopped.
 */
export function withHeldBytes(pod: Pod, own: PodHardware): PodHardware {
  // The pod as a whole holds the memory of its containers.
  if (own.get(WHOLE_POD)?.memory !== undefined) return own;
  const isInit = new Set((pod.spec.initContainers ?? []).filter((it) => !isSidecar(it)).map(({ name }) => name));
  const settled = new Map<string, ContainerHardware>();
  const whole = own.get(WHOLE_POD);
  if (whole !== undefined) settled.set(WHOLE_POD, whole);
  for (const { name } of podContainers(pod.spec)) {
    const hardware = own.get(name);
    if (hardware === undefined) continue;
    if (hardware.memory === undefined) {
      settled.set(name, hardware);
      continue;
    }
    for (const block of hardware.memory) useAgain(settled, isInit, block);
    settled.set(name, { ...hardware, memory: hardware.memory.map((block) => ({ ...block, heldBytes: block.bytes })) });
  }
  return settled;
}

/** Takes from the blocks of init containers what a later block of the same kind and place uses again. */
function useAgain(settled: Map<string, ContainerHardware>, isInit: ReadonlySet<string>, block: MemoryBlock): void {
  let open = block.bytes;
  for (const [name, hardware] of settled) {
    if (open === 0) return;
    if (!isInit.has(name) || hardware.memory === undefined) continue;
    const memory = hardware.memory.map((earlier) => {
      if (earlier.resource !== block.resource || !sameNodes(earlier.nodes, block.nodes)) return earlier;
      const again = Math.min(open, earlier.heldBytes);
      open -= again;
      return { ...earlier, heldBytes: earlier.heldBytes - again };
    });
    settled.set(name, { ...hardware, memory });
  }
}

/** Memory of one kind that the containers of a pod have on the same nodes. */
export interface PodMemory {
  readonly nodes: readonly number[];
  readonly resource: string;
  readonly heldBytes: number;
  /** The part of it that ended init containers leave to the next container. */
  readonly reusableBytes: number;
}

/** Returns the memory of a pod's containers by kind and place; linear in their number. */
export function podMemory(pod: Pod, own: PodHardware): readonly PodMemory[] {
  const byPlace = new Map<string, PodMemory>();
  const init = pod.spec.initContainers ?? [];
  for (const [index, container] of podContainers(pod.spec).entries()) {
    const leaves = index < init.length && !isSidecar(container);
    for (const { nodes, resource, bytes } of own.get(container.name)?.memory ?? NO_BLOCKS) {
      const key = `${resource} ${nodes.join(",")}`;
      const { heldBytes, reusableBytes } = byPlace.get(key) ?? { heldBytes: 0, reusableBytes: 0 };
      const again = Math.min(bytes, reusableBytes);
      const reusable = leaves ? Math.max(bytes, reusableBytes) : reusableBytes - again;
      byPlace.set(key, { nodes, resource, heldBytes: heldBytes + bytes - again, reusableBytes: reusable });
    }
  }
  return [...byPlace.values()];
}

/** Returns the NUMA nodes of a container's memory as the runtime wants them: `0,1`; undefined if it may be anywhere. */
export function memoryNodesText(hardware: PodHardware | undefined, container: string): string | undefined {
  const ids = new Set(hardware?.get(container)?.memory?.flatMap(({ nodes }) => nodes));
  return ids.size === 0 ? undefined : [...ids].sort((a, b) => a - b).join(",");
}
