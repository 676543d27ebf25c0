import { describe, expect, it } from "vitest";
import {
  kubepodsCgroupName,
  kubepodsCgroupResources,
  parsePodCgroupName,
  podCgroupName,
  podCgroupParent,
  podCgroupResources,
  qosCgroupName,
  qosCgroupResources,
} from "../../../../src/core/resources/podCgroup.ts";
import { parseResourceList } from "../../../../src/core/resources/resourceList.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const limits = { cpu: "200m", memory: "128Mi" };
const burstable = podOf({ spec: { containers: [containerOf({ resources: { requests: { cpu: "50m" }, limits } })] } });
const guaranteed = podOf({ spec: { containers: [containerOf({ resources: { requests: limits, limits } })] } });
const config = { cpuCfsQuota: true, cpuCfsPeriodUs: 100_000, podPidsLimit: 0, memoryQos: undefined };
const naming = { cgroupRoot: "/", cgroupsPerQos: true, cgroupDriver: "cgroupfs" } as const;

describe("pod cgroup names", () => {
  it.each([
    [podOf(), naming, "/kubepods/besteffort/poduid-1"],
    [burstable, naming, "/kubepods/burstable/poduid-1"],
    [guaranteed, naming, "/kubepods/poduid-1"],
    [podOf(), { ...naming, cgroupRoot: "" }, "/kubepods/besteffort/poduid-1"],
    [podOf(), { ...naming, cgroupRoot: "/node/" }, "/node/kubepods/besteffort/poduid-1"],
    [podOf(), { ...naming, cgroupsPerQos: false }, ""],
  ])("case %#", (pod, parent, expected) => {
    expect(podCgroupName(pod, parent)).toBe(expected);
  });

  it.each([
    [naming, "/kubepods/burstable/poduid-1"],
    [
      { ...naming, cgroupDriver: "systemd" },
      "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-poduid_1.slice",
    ],
    [
      { ...naming, cgroupDriver: "systemd", cgroupRoot: "/node-a" },
      "/node_a.slice/node_a-kubepods.slice/node_a-kubepods-burstable.slice/node_a-kubepods-burstable-poduid_1.slice",
    ],
    [{ ...naming, cgroupDriver: "systemd", cgroupsPerQos: false }, ""],
  ] as const)("are passed to the runtime in the driver's form, case %#", (config, expected) => {
    expect(podCgroupParent(burstable, config)).toBe(expected);
  });

  it("name the parents", () => {
    expect([
      kubepodsCgroupName(naming),
      qosCgroupName(naming, "Guaranteed"),
      qosCgroupName(naming, "Burstable"),
      qosCgroupName(naming, "BestEffort"),
    ]).toEqual(["/kubepods", "/kubepods", "/kubepods/burstable", "/kubepods/besteffort"]);
  });

  it("contain the pod's UID", () => {
    expect(["poduid-1", "burstable", "pod", "pod.."].map(parsePodCgroupName)).toEqual([
      "uid-1",
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("pod cgroup limits", () => {
  it.each([
    ["BestEffort weighs least and has no limits", podOf(), config, { cpuShares: 2 }],
    [
      "limits hold for the pod when every container has them",
      burstable,
      config,
      { cpuShares: 51, cpuQuotaUs: 20_000, cpuPeriodUs: 100_000, memoryLimitBytes: 134_217_728 },
    ],
    [
      "a container without limits leaves the pod without",
      podOf({ spec: { ...burstable.spec, initContainers: [containerOf({ name: "init" })] } }),
      config,
      { cpuShares: 51 },
    ],
    [
      "pod-level limits need no container's",
      podOf({ spec: { resources: { limits: { memory: "1Gi" } } } }),
      config,
      { cpuShares: 2, memoryLimitBytes: 1_073_741_824 },
    ],
    [
      "without CFS quota the CPU is not limited",
      guaranteed,
      { ...config, cpuCfsQuota: false },
      { cpuShares: 204, cpuQuotaUs: -1, cpuPeriodUs: 100_000, memoryLimitBytes: 134_217_728 },
    ],
    [
      "overhead comes on top",
      podOf({ spec: { containers: guaranteed.spec.containers, overhead: { cpu: "1", memory: "1Mi" } } }),
      config,
      { cpuShares: 1228, cpuQuotaUs: 120_000, cpuPeriodUs: 100_000, memoryLimitBytes: 135_266_304 },
    ],
    [
      "processes are limited when configured",
      podOf(),
      { ...config, podPidsLimit: 99 },
      { cpuShares: 2, pidsLimit: 99 },
    ],
    [
      "huge pages have the requested limits",
      podOf({
        spec: {
          containers: ["a", "b"].map((name) =>
            containerOf({
              name,
              resources: { requests: { "hugepages-2Mi": "4Mi", "hugepages-1Gi": "1Gi", cpu: "1" } },
            }),
          ),
        },
      }),
      config,
      { cpuShares: 2048, hugePages: { "2MB": 8_388_608, "1GB": 2_147_483_648 } },
    ],
  ])("%s", (_, pod, how, expected) => {
    expect(podCgroupResources(pod, how)).toEqual({ hugePages: {}, ...expected });
  });

  it("weights a QoS class by the requests of its pods", () => {
    const pods = [burstable, burstable, guaranteed, podOf()];
    expect(qosCgroupResources("Burstable", pods)).toEqual({ cpuShares: 102 });
    expect(qosCgroupResources("BestEffort", pods)).toEqual({ cpuShares: 2 });
  });

  it("limits all pods to the unreserved resources of the node", () => {
    const left = parseResourceList({ cpu: "2", memory: "1Gi", "hugepages-2Mi": "128Mi" });
    const hugePages = { "2MB": 134_217_728 };
    expect(kubepodsCgroupResources(left)).toEqual({ cpuShares: 2048, memoryLimitBytes: 1_073_741_824, hugePages });
    expect(kubepodsCgroupResources(parseResourceList({ cpu: "2" }))).toEqual({ cpuShares: 2048 });
  });
});
