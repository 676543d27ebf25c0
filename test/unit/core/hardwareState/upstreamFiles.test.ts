/** Files that a kubelet 1.36.2 wrote on a real machine: they are read, and written again byte by byte. */
import { describe, expect, it } from "vitest";
import { decodeCpuState, encodeCpuState, type StateFormat } from "../../../../src/core/hardwareState/cpuState.ts";
import { decodeMemoryState, encodeMemoryState } from "../../../../src/core/hardwareState/memoryState.ts";

const CPUS: readonly (readonly [string, StateFormat, string])[] = [
  [
    "a container has a CPU",
    "containers",
    `{"policyName":"static","defaultCpuSet":"0","entries":{"11111111-2222-3333-4444-000000006775":{"main":"1"}},"checksum":2395963111}`,
  ],
  [
    "containers share the CPU of their pod",
    "pods",
    `{"policyName":"static","defaultCpuSet":"0","entries":{"11111111-2222-3333-4444-00000000706d":{"a":"1","b":"1"}},"podEntries":{"11111111-2222-3333-4444-00000000706d":{"cpuSet":"1"}},"checksum":2464977128}`,
  ],
  [
    "nothing is given out, with pod-level managers",
    "pods",
    `{"policyName":"static","defaultCpuSet":"0-1","checksum":653018852}`,
  ],
];
const MEMORY: readonly (readonly [string, StateFormat, string])[] = [
  [
    "a container has memory",
    "containers",
    `{"policyName":"Static","machineState":{"0":{"numberOfAssignments":1,"memoryMap":{"hugepages-1Gi":{"total":0,"systemReserved":0,"allocatable":0,"reserved":0,"free":0},"hugepages-2Mi":{"total":0,"systemReserved":0,"allocatable":0,"reserved":0,"free":0},"memory":{"total":25276502016,"systemReserved":536870912,"allocatable":24739631104,"reserved":67108864,"free":24672522240}},"cells":[0]}},"entries":{"11111111-2222-3333-4444-000000006775":{"main":[{"numaAffinity":[0],"type":"memory","size":67108864}]}},"checksum":2291028489}`,
  ],
  [
    "containers share the memory of their pod",
    "pods",
    `{"policyName":"Static","machineState":{"0":{"numberOfAssignments":1,"memoryMap":{"hugepages-1Gi":{"total":0,"systemReserved":0,"allocatable":0,"reserved":0,"free":0},"hugepages-2Mi":{"total":0,"systemReserved":0,"allocatable":0,"reserved":0,"free":0},"memory":{"total":25276502016,"systemReserved":536870912,"allocatable":24739631104,"reserved":100663296,"free":24638967808}},"cells":[0]}},"entries":{"11111111-2222-3333-4444-00000000706d":{"a":[{"numaAffinity":[0],"type":"memory","size":100663296}],"b":[{"numaAffinity":[0],"type":"memory","size":100663296}]}},"podEntries":{"11111111-2222-3333-4444-00000000706d":{"memoryBlocks":[{"numaAffinity":[0],"type":"memory","size":100663296}]}},"checksum":2115770362}`,
  ],
];

describe("state files of a kubelet 1.36.2", () => {
  it.each(CPUS)("for CPUs: %s", (_, format, text) => {
    const read = decodeCpuState(text);
    expect("state" in read && encodeCpuState(read.state, format)).toBe(text);
  });

  it.each(MEMORY)("for memory: %s", (_, format, text) => {
    const read = decodeMemoryState(text);
    expect("state" in read && encodeMemoryState(read.state, format)).toBe(text);
  });
});
