/** Machines with regular CPUs: every socket, node, cache and core has as many parts as the others. */
import { type CpuPlace, type CpuTopology, cpuTopology } from "../../src/core/cpu/cpuTopology.ts";

/** How many parts each part has. */
export interface MachineShape {
  readonly sockets: number;
  readonly nodesPerSocket: number;
  readonly cachesPerNode?: number;
  readonly coresPerCache: number;
  readonly threads: number;
}

/** Numbers the first threads of all cores first, as Linux on x86 does. */
export function placesOfMachine({
  sockets,
  nodesPerSocket,
  cachesPerNode = 1,
  coresPerCache,
  threads,
}: MachineShape): readonly CpuPlace[] {
  const coresPerNode = cachesPerNode * coresPerCache;
  const cores = sockets * nodesPerSocket * coresPerNode;
  return Array.from({ length: cores * threads }, (_, cpu) => {
    const core = cpu % cores;
    const node = Math.floor(core / coresPerNode);
    return {
      cpu,
      core,
      socket: Math.floor(node / nodesPerSocket),
      node,
      cache: Math.floor(core / coresPerCache),
    };
  });
}

/** Returns the CPUs of a machine. */
export const machineOf = (shape: MachineShape): CpuTopology => cpuTopology(placesOfMachine(shape));
