/** The properties of a simulated node's machine. */
import type { Machine } from "../../ports/host.ts";

const GIB = 1024n ** 3n;

/** Returns a machine with 8 CPUs, 32 GiB of memory, 100 GiB of disk and cgroup v2; `more` overrides any of it. */
export const simMachine = (more: Partial<Machine> = {}): Machine => ({
  hostname: "sim-node",
  ips: ["192.0.2.10"],
  interfaceIps: more.ips ?? ["192.0.2.10"],
  nameIps: [],
  cpuCount: 8,
  cpuTopology: undefined,
  cpuLayout: undefined,
  numaMemory: undefined,
  memoryBytes: 32n * GIB,
  swapBytes: 0n,
  isSwapOn: false,
  tmpfsNoSwap: false,
  maxPids: 32_768n,
  pageBytes: 4096,
  rootFsBytes: 100n * GIB,
  memoryModules: [],
  hugepages: [],
  uptimeMs: 10_000,
  bootId: "00000000-0000-4000-8000-000000000001",
  machineId: "00000000000000000000000000000001",
  systemUuid: "00000000-0000-4000-8000-000000000002",
  kernelVersion: "6.0.0-sim",
  osImage: "Simulated",
  operatingSystem: "linux",
  architecture: "amd64",
  cgroupVersion: 2,
  swapControllerAvailable: true,
  subordinateIds: undefined,
  thermalThrottlePaths: [],
  appArmorEnabled: false,
  selinuxEnabled: false,
  selinuxFileLabel: undefined,
  ...more,
});
