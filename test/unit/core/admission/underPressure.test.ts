import { expect, it } from "vitest";
import { pressureFault } from "../../../../src/core/admission/underPressure.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const NONE = { memory: false, disk: false, pid: false };
const bestEffort = podOf();
const burstable = podOf({ spec: { containers: [containerOf({ resources: { requests: { cpu: "1" } } })] } });
const critical = podOf({ spec: { priority: 2_000_000_000 } });
const tolerates = (effect: string) =>
  podOf({ spec: { tolerations: [{ key: "node.kubernetes.io/memory-pressure", operator: "Exists", effect }] } });
const condition = (names: string): string => `The node had condition: [${names}]. `;

it.each([
  ["a pod without pressure", bestEffort, {}, undefined],
  ["a BestEffort pod under memory pressure", bestEffort, { memory: true }, condition("MemoryPressure")],
  ["a BestEffort pod under disk pressure", bestEffort, { disk: true }, condition("DiskPressure")],
  ["a BestEffort pod under PID pressure", bestEffort, { pid: true }, condition("PIDPressure")],
  [
    "a BestEffort pod under all pressures",
    bestEffort,
    { memory: true, disk: true, pid: true },
    condition("MemoryPressure DiskPressure PIDPressure"),
  ],
  ["a Burstable pod under memory pressure", burstable, { memory: true }, undefined],
  ["a Burstable pod under disk pressure", burstable, { disk: true }, condition("DiskPressure")],
  ["a Burstable pod under PID pressure", burstable, { pid: true }, condition("PIDPressure")],
  [
    "a Burstable pod under memory and disk pressure",
    burstable,
    { memory: true, disk: true },
    condition("MemoryPressure DiskPressure"),
  ],
  ["a pod that tolerates memory pressure", tolerates("NoSchedule"), { memory: true }, undefined],
  [
    "a pod that tolerates memory pressure under PID pressure",
    tolerates("NoSchedule"),
    { memory: true, pid: true },
    condition("MemoryPressure PIDPressure"),
  ],
  ["a pod that tolerates another effect", tolerates("NoExecute"), { memory: true }, condition("MemoryPressure")],
  ["a critical pod under all pressures", critical, { memory: true, disk: true, pid: true }, undefined],
])("%s", (_, pod, pressures, fault) => {
  expect(pressureFault(pod, { ...NONE, ...pressures })).toBe(fault);
});
