/** The kubelet's configuration from flags, configuration file and machine. */
import { expect, it } from "vitest";
import { KUBELET_FLAGS } from "../../../src/cli/flags.ts";
import { loadKubeletOptions } from "../../../src/cli/loadKubeletOptions.ts";
import { parseFlags } from "../../../src/cli/parseKubeletFlags.ts";
import { shownFlags } from "../../../src/cli/shownFlags.ts";
import { kubeletConfigOf } from "../../../src/commands/kubeletConfigOf.ts";
import { parseResourceList, type ResourceAmounts, resourceValue } from "../../../src/core/resources/resourceList.ts";
import { simMachine } from "../../../src/sim/host/simMachine.ts";
import { HEADER, memoryReaders } from "../cli/memoryReaders.ts";

async function optionsOf(argv: readonly string[], file: string) {
  const readers = memoryReaders({ "/k.yaml": HEADER + file });
  const loaded = await loadKubeletOptions(parseFlags([...argv, "--config=/k.yaml"], KUBELET_FLAGS), readers);
  if (!loaded.ok) throw new Error(loaded.errors.join("\n"));
  return loaded.options;
}

it("holds all pods together to what the machine has, and to less where reservations are enforced", async () => {
  const machine = { ...simMachine(), hostname: "n" };
  const limits = async (file: string) => kubeletConfigOf(await optionsOf([], file), machine, "1.2.3").kubepodsLimits;
  const reserved = "systemReserved: { memory: 1Gi }\n";
  const all = Number(simMachine().memoryBytes);
  expect([
    (await limits(`enforceNodeAllocatable: [none]\n${reserved}`)).memoryLimitBytes,
    (await limits(`enforceNodeAllocatable: [pods]\n${reserved}`)).memoryLimitBytes,
  ]).toEqual([all, all - 1024 ** 3]);
});

it("leaves pods the process ids of the machine less the reserved ones, where reservations are enforced", async () => {
  const machine = { ...simMachine(), hostname: "n", maxPids: 10_000n };
  const file = "systemReserved: { pid: '1000' }\nkubeReserved: { pid: '500' }\n";
  const configured = async (more: string) => kubeletConfigOf(await optionsOf([], file + more), machine, "1.2.3");
  const [enforced, free] = [await configured(""), await configured("enforceNodeAllocatable: [none]\n")];
  expect([enforced.kubepodsLimits.pidsLimit, free.kubepodsLimits.pidsLimit]).toEqual([8_500, 10_000]);
  expect([enforced.capacity["pid"], enforced.allocatable["pid"]]).toEqual([undefined, undefined]);
  const unknown = kubeletConfigOf(await optionsOf([], file), { ...machine, maxPids: undefined }, "1.2.3");
  expect(unknown.kubepodsLimits).not.toHaveProperty("pidsLimit");
});

it("shows flags as they are, whatever the configuration file says", async () => {
  const shown = shownFlags(
    await optionsOf(["--max-pods=7"], "maxPods: 9\nsyncFrequency: 7s\nclusterDNS: [192.0.2.1]\n"),
  );
  const names = ["max-pods", "sync-frequency", "cluster-dns", "register-with-taints", "help"];
  expect(names.map((name) => shown.get(name))).toEqual(["7", "1m0s", "[]", "", "false"]);
});

it("throttles memory by what the machine has less the reservations, enforced or not; eviction and huge pages do not count", async () => {
  const hugepages = [{ bytes: 2n ** 21n, unit: "2MB", resource: "hugepages-2Mi", count: 512n }];
  const machine = { ...simMachine(), hostname: "n", cgroupVersion: 2 as const, hugepages };
  const file = "featureGates: { MemoryQoS: true }\nenforceNodeAllocatable: [none]\nsystemReserved: { memory: 1Gi }\n";
  const { memoryQos } = kubeletConfigOf(await optionsOf([], file), machine, "1.2.3");
  expect(memoryQos?.nodeBytes).toBe(Number(machine.memoryBytes) - 1024 ** 3);
});

it("reserves memory of QoS classes with the gate: what the machine has less reservations and huge pages", async () => {
  const hugepages = [{ bytes: 2n ** 21n, unit: "2MB", resource: "hugepages-2Mi", count: 512n }];
  const machine = { ...simMachine(), hostname: "n", hugepages };
  const file = "featureGates: { QOSReserved: true }\nenforceNodeAllocatable: [none]\nsystemReserved: { memory: 1Gi }\n";
  const configured = async (more: string) =>
    kubeletConfigOf(await optionsOf([], file + more), machine, "1.2.3").qosReserved;
  expect(await configured("")).toBeUndefined();
  expect(await configured("qosReserved: { memory: 60% }\n")).toEqual({
    memoryPercent: 60,
    nodeBytes: Number(machine.memoryBytes) - 2 * 1024 ** 3,
  });
});

it("leaves evictionHard out of allocatable and of the check of reservations with the flag, but still evicts by it", async () => {
  const machine = { ...simMachine(), hostname: "n" };
  const total = Number(machine.memoryBytes);
  const configured = async (flags: readonly string[], threshold: string) =>
    kubeletConfigOf(await optionsOf(flags, `evictionHard: { memory.available: ${threshold} }\n`), machine, "1.2.3");
  const ignoring = ["--experimental-allocatable-ignore-eviction"];
  const memoryOf = ({ allocatable }: { allocatable: ResourceAmounts }) =>
    Number(resourceValue(parseResourceList(allocatable), "memory"));
  const [counted, ignored] = [await configured([], "1Gi"), await configured(ignoring, "1Gi")];
  expect([memoryOf(counted), memoryOf(ignored)]).toEqual([total - 1024 ** 3, total]);
  expect(ignored.evictionThresholds).toEqual(counted.evictionThresholds);
  await expect(configured([], "1Ei")).rejects.toMatchObject({ code: "InvalidArgument" });
  expect(memoryOf(await configured(ignoring, "1Ei"))).toBe(total);
});

it("kills all processes of a container out of memory unless the configuration says otherwise", async () => {
  const machine = { ...simMachine(), hostname: "n", cgroupVersion: 2 as const };
  const configured = async (file: string) => kubeletConfigOf(await optionsOf([], file), machine, "1.2.3");
  expect([
    (await configured("")).singleProcessOomKill,
    (await configured("singleProcessOOMKill: false\n")).singleProcessOomKill,
    (await configured("singleProcessOOMKill: true\n")).singleProcessOomKill,
  ]).toEqual([false, false, true]);
});

it("shares out the machine's swap among pods with LimitedSwap on cgroup v2 only", async () => {
  const swapOf = async (file: string, cgroupVersion: 1 | 2) => {
    const machine = { ...simMachine(), hostname: "n", swapBytes: 7n, cgroupVersion };
    return kubeletConfigOf(await optionsOf([], file), machine, "1.2.3").podSwapBytes;
  };
  const limited = "memorySwap: { swapBehavior: LimitedSwap }\n";
  expect([await swapOf(limited, 2), await swapOf(limited, 1), await swapOf("", 2)]).toEqual([7n, undefined, undefined]);
});
