/** The memory that qosReserved keeps for the higher QoS classes. */
import { describe, expect, it } from "vitest";
import { qosCgroupLimits } from "../../../../src/core/resources/qosCgroups.ts";
import { qosMemoryLimits, reservedMemoryPercent } from "../../../../src/core/resources/qosReserved.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const MI = 2 ** 20;
const guaranteed = (memory: string) =>
  podOf({
    spec: {
      containers: [containerOf({ resources: { requests: { cpu: "1", memory }, limits: { cpu: "1", memory } } })],
    },
  });
const burstable = (memory: string) =>
  podOf({ spec: { containers: [containerOf({ resources: { requests: { memory } } })] } });

describe("qosReserved", () => {
  it.each([
    [{}, undefined],
    [{ memory: "0%" }, 0],
    [{ memory: "50%" }, 50],
    [{ memory: "100%" }, 100],
  ])("%j reserves %s percent", (qosReserved, percent) => {
    expect(reservedMemoryPercent(qosReserved)).toBe(percent);
  });

  it.each([
    ["nothing for an empty node", [], 100, 1000 * MI, 1000 * MI],
    ["nothing at 0%", [guaranteed("300Mi"), burstable("200Mi")], 0, 1000 * MI, 1000 * MI],
    ["half of the requests", [guaranteed("300Mi"), burstable("200Mi")], 50, 850 * MI, 750 * MI],
    ["all requests", [guaranteed("300Mi"), guaranteed("100Mi"), burstable("200Mi")], 100, 600 * MI, 400 * MI],
    ["at most the node", [guaranteed("900Mi"), burstable("200Mi")], 100, 100 * MI, 0],
    ["nothing for pods without requests", [podOf()], 100, 1000 * MI, 1000 * MI],
  ])("keeps %s from the lower classes", (_, pods, memoryPercent, burstableBytes, bestEffortBytes) => {
    const limits = qosMemoryLimits(pods, { memoryPercent, nodeBytes: 1000 * MI });
    expect(limits).toEqual({ burstableBytes, bestEffortBytes });
  });

  it("rounds the share down to bytes, as upstream", () => {
    const limits = qosMemoryLimits([guaranteed("3"), burstable("3")], { memoryPercent: 50, nodeBytes: 10 });
    expect(limits).toEqual({ burstableBytes: 9, bestEffortBytes: 8 });
  });
});

describe("limits of the cgroups of QoS classes", () => {
  const config = { cgroupRoot: "/", memoryQos: undefined, qosReserved: undefined };
  const pods = [guaranteed("300Mi"), burstable("200Mi")];

  it("have no memory limit without qosReserved", () => {
    expect([...qosCgroupLimits(config, pods)]).toEqual([
      ["/kubepods/burstable", { cpuShares: 2 }],
      ["/kubepods/besteffort", { cpuShares: 2 }],
    ]);
  });

  it("have both memory limits with it, and none on all pods together", () => {
    const qosReserved = { memoryPercent: 100, nodeBytes: 1000 * MI };
    expect([...qosCgroupLimits({ ...config, qosReserved }, pods)]).toEqual([
      ["/kubepods/burstable", { cpuShares: 2, memoryLimitBytes: 700 * MI }],
      ["/kubepods/besteffort", { cpuShares: 2, memoryLimitBytes: 500 * MI }],
    ]);
  });
});
