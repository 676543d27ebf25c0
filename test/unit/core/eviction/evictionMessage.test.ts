import { describe, expect, it } from "vitest";
import { evictionMessage, thresholdFigures } from "../../../../src/core/eviction/evictionMessage.ts";
import type { StarvedResource, Threshold, ThresholdAmount } from "../../../../src/core/eviction/thresholds.ts";
import { epochMs, monotonicMs } from "../../../../src/core/ids.ts";
import type { ContainerStats, PodStats } from "../../../../src/core/stats/summary.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const time = epochMs(0);
const MIB = 2 ** 20;
const container = (name: string, more: Partial<ContainerStats>): ContainerStats => ({ name, startTime: time, ...more });
const statsOf = (containers: readonly ContainerStats[], more: Partial<PodStats> = {}): PodStats => ({
  podRef: { name: "plain", namespace: "demo", uid: "uid-1" },
  startTime: time,
  containers,
  ...more,
});
const memory = (workingSetBytes: number) => ({ memory: { time, workingSetBytes } });
const requesting = (name: string, requests: Readonly<Record<string, string>>) =>
  containerOf({ name, resources: { requests } });
const FIGURES = { threshold: "100Mi", available: "90Mi" };
const LOW = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi. ";

describe("the message of an eviction", () => {
  it("names the containers beyond their requests, init containers too, with annotations for programs", () => {
    const pod = podOf({
      spec: {
        initContainers: [requesting("setup", { memory: "1Mi" })],
        containers: [requesting("web", { memory: "10Mi" }), containerOf({ name: "log" })],
        ephemeralContainers: [{ ...containerOf({ name: "debug" }) }],
      },
    });
    const stats = statsOf([
      container("web", memory(10 * MIB)),
      container("log", memory(50 * MIB)),
      container("setup", memory(2 * MIB + 1)),
      container("debug", memory(900 * MIB)),
    ]);
    expect(evictionMessage("memory", pod, stats, FIGURES)).toEqual({
      message:
        `${LOW}Container log was using 50Mi, request is 0, has larger consumption of memory. ` +
        "Container setup was using 2097153, request is 1Mi, has larger consumption of memory. ",
      annotations: {
        offending_containers: "log,setup",
        offending_containers_usage: "50Mi,2097153",
        starved_resource: "memory",
      },
    });
  });

  it("names a pod with a request of its own, whatever it uses", () => {
    const pod = podOf({ spec: { resources: { requests: { memory: "64Mi" } } } });
    expect(evictionMessage("memory", pod, statsOf([], memory(32 * MIB)), FIGURES)).toEqual({
      message: `${LOW}Pod plain was using 32Mi, request is 64Mi, has larger consumption of memory. `,
      annotations: {
        offending_pod: "plain",
        offending_pod_usage: "32Mi",
        offending_containers: "",
        offending_containers_usage: "",
        starved_resource: "memory",
      },
    });
  });

  const disk = (rootBytes: number | undefined, logBytes: number | undefined): Partial<ContainerStats> => ({
    ...(rootBytes !== undefined && { rootfs: { time, usedBytes: rootBytes } }),
    ...(logBytes !== undefined && { logs: { time, usedBytes: logBytes } }),
  });
  it.each<[string, StarvedResource, Partial<ContainerStats>, string]>([
    [
      "adds layer and logs of a container",
      "ephemeral-storage",
      disk(MIB, MIB),
      "Container main was using 2Mi, request is 1Mi",
    ],
    ["names no container without a figure of its logs", "ephemeral-storage", disk(9 * MIB, undefined), ""],
    ["names no container for inodes", "inodes", disk(9 * MIB, 9 * MIB), ""],
    ["names no container for process ids", "pids", {}, ""],
  ])("%s", (_, resource, figures, offender) => {
    const pod = podOf({ spec: { containers: [requesting("main", { "ephemeral-storage": "1Mi" })] } });
    const { message } = evictionMessage(resource, pod, statsOf([container("main", figures)]), undefined);
    const named = offender === "" ? "" : `${offender}, has larger consumption of ${resource}. `;
    expect(message).toBe(`The node was low on resource: ${resource}. ${named}`);
  });

  it("names no usage of a pod without stats", () => {
    expect(evictionMessage("memory", podOf(), undefined, FIGURES)).toEqual({ message: LOW, annotations: {} });
  });

  it("names 100 containers at most", () => {
    const names = Array.from({ length: 101 }, (_, index) => `c${index}`);
    const pod = podOf({ spec: { containers: names.map((name) => containerOf({ name })) } });
    const stats = statsOf(names.map((name) => container(name, memory(MIB))));
    const { annotations } = evictionMessage("memory", pod, stats, FIGURES);
    expect(annotations["offending_containers"]?.split(",")).toEqual(names.slice(0, 100));
  });
});

describe("the figures of a threshold", () => {
  const GIB = 2 ** 30;
  it.each<[Threshold["signal"], ThresholdAmount, number, number, string, string]>([
    ["memory.available", { units: 100 * MIB, format: "BinarySI" }, 90 * MIB, 32 * GIB, "100Mi", "90Mi"],
    ["memory.available", { units: 1e9, format: "DecimalSI" }, 92_161, 32 * GIB, "1G", "92161"],
    ["nodefs.available", { share: 0.5 }, 8 * GIB, 10 * GIB, "5Gi", "8Gi"],
    ["nodefs.inodesFree", { share: 0.5 }, 3_000, 8_192, "4Ki", "3k"],
    ["pid.available", { units: 1_000 }, 12, 32_768, "1k", "12"],
    ["allocatableMemory.available", { units: 0.5 }, -1_024, GIB, "500m", "-1Ki"],
  ])("of %s are quantities as upstream writes them", (signal, least, available, capacity, threshold, left) => {
    const observations = new Map([[signal, { available, capacity, at: monotonicMs(0) }]]);
    const given = { signal, least, graceMs: 0, reclaim: undefined };
    expect(thresholdFigures(given, observations)).toEqual({ threshold, available: left });
  });

  it("are unknown without an observation", () => {
    const given = { signal: "pid.available", least: { units: 1 }, graceMs: 0, reclaim: undefined } as const;
    expect(thresholdFigures(given, new Map())).toBeUndefined();
  });
});
