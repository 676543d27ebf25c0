/** Limits of cgroups outside of pods. */
import { describe, expect, it } from "vitest";
import { reservedCgroupName, reservedCgroups } from "../../../../src/core/resources/reservedCgroups.ts";

const FIELDS = {
  enforceNodeAllocatable: [] as readonly string[],
  systemReserved: { cpu: "500m", memory: "1Gi", pid: "1000", "ephemeral-storage": "1Gi" },
  systemReservedCgroup: "/system.slice",
  kubeReserved: {},
  kubeReservedCgroup: "/kube",
};
const LIMITS = { cpuShares: 512, memoryLimitBytes: 2 ** 30, pidsLimit: 1000, hugePages: {} };
const limitsOf = (keys: readonly string[], more: Partial<typeof FIELDS> = {}, protectsMemory = false) =>
  reservedCgroups({ ...FIELDS, ...more, enforceNodeAllocatable: keys }, protectsMemory).map(
    ({ cgroup, limits, isCompressible }) => ({ cgroup, isCompressible, limits }),
  );

describe("reservedCgroups", () => {
  it.each([[[]], [["none"]], [["pods"]]])("returns no limits for %j", (keys) => {
    expect(limitsOf(keys)).toEqual([]);
  });

  it("limits CPU, memory and process IDs, and allows no huge pages", () => {
    expect(limitsOf(["pods", "system-reserved"])).toEqual([
      { cgroup: "/system.slice", isCompressible: false, limits: LIMITS },
    ]);
  });

  it("limits only CPU when compressible resources are enforced, and nothing without a reservation", () => {
    expect(limitsOf(["system-reserved-compressible"])).toEqual([
      { cgroup: "/system.slice", isCompressible: true, limits: { cpuShares: 512 } },
    ]);
    expect(limitsOf(["kube-reserved-compressible"], { kubeReserved: { pid: "5" } })).toEqual([
      { cgroup: "/kube", isCompressible: true, limits: {} },
    ]);
  });

  it("protects the reserved memory by MemoryQoS", () => {
    expect(limitsOf(["system-reserved"], {}, true)[0]?.limits).toEqual({ ...LIMITS, memoryMinBytes: 2 ** 30 });
  });

  it("returns both groups in upstream's order, and detects missing reservations", () => {
    expect(limitsOf(["kube-reserved", "system-reserved"])).toEqual([
      { cgroup: "/system.slice", isCompressible: false, limits: LIMITS },
      { cgroup: "/kube", isCompressible: false, limits: undefined },
    ]);
  });
});

it.each([
  ["cgroupfs", "/kube", "/kube"],
  ["cgroupfs", "kube/own", "/kube/own"],
  ["cgroupfs", "/system.slice", "/system.slice"],
  ["systemd", "/system.slice", "/system"],
  ["systemd", "/kube.slice/kube-own_one.slice", "/kube/own-one"],
  ["systemd", "kube", "/kube"],
] as const)("with %s, %s is the cgroup %s", (driver, cgroup, name) => {
  expect(reservedCgroupName(driver, { cgroup })).toBe(name);
});
