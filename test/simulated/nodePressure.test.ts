/** A whole node that runs short of something: what its Node says of it, and which pods it takes meanwhile. */
import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../src/core/api.ts";
import type { PressureView } from "../../src/core/eviction/pressureView.ts";
import { createSimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { DEFAULT_MAX_PIDS } from "../../src/sim/host/simProcesses.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import type { SimNodeOptions } from "../../src/sim/simNodeOptions.ts";
import { containerOf } from "../support/pods.ts";
import { newPod } from "../support/simApi.ts";

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const requesting = { containers: [containerOf({ resources: { requests: { memory: "1Mi" } } })] };

/** A node of a cluster whose pods named `hog` use almost all memory and process ids. */
function cluster(options: Partial<SimNodeOptions> = {}) {
  const scheduler = createHeapScheduler();
  const server = createSimApiServer({ clock: createSimClock(scheduler), latency: () => 2 });
  const node = createSimNode({
    seed: "one",
    scheduler,
    api: server,
    images: [simImage("registry.example/app:1")],
    programs: ({ sandbox }) =>
      sandbox.metadata?.name === "hog"
        ? { usage: { cpuMilli: 0, memoryBytes: 32 * GIB - 50 * MIB, tasks: DEFAULT_MAX_PIDS - 30 } }
        : {},
    ...options,
    config: { nodeName: "one", ...options.config },
  });
  const place = (name: string, spec: Partial<PodSpec> = {}): void => {
    server.put("pods", newPod(name, spec));
    server.schedule({ namespace: "default", name }, "one");
    node.runFor(2_000);
  };
  const reported = (type: string): string => {
    const { conditions = [] } = server.object("nodes", { name: "one" })?.status ?? {};
    const { status, reason, message } = conditions.find((each) => each.type === type) ?? {};
    return `${status} ${reason}: ${message}`;
  };
  const became = (name: string): string => {
    const { phase, reason, message } = server.object("pods", { namespace: "default", name })?.status ?? {};
    return [phase, reason, message].filter((word) => word !== undefined).join(" ");
  };
  const events = (reason: string) =>
    node.trace.lines.filter((line) => line.includes("event") && line.includes(`${reason}`)).length;
  node.runFor(1_000);
  return { server, node, place, reported, became, events };
}
const refused = (condition: string): string =>
  `Failed Evicted Pod was rejected: The node had condition: [${condition}]. `;

describe("a node that runs short of", () => {
  it("memory reports it within a second, admits pods with requests, and recovers after five minutes", () => {
    const { server, node, place, reported, became, events } = cluster();
    place("hog", requesting);
    node.runFor(1_000);
    expect(reported("MemoryPressure")).toBe(
      "True KubeletHasInsufficientMemory: kubelet has insufficient memory available",
    );
    place("besteffort");
    place("burstable", requesting);
    expect([became("besteffort"), became("burstable")]).toEqual([refused("MemoryPressure"), "Running"]);
    server.delete("pods", { namespace: "default", name: "hog" }, { gracePeriodSeconds: 1 });
    node.runFor(290_000);
    expect(reported("MemoryPressure")).toContain("True");
    node.runFor(30_000);
    expect(reported("MemoryPressure")).toBe(
      "False KubeletHasSufficientMemory: kubelet has sufficient memory available",
    );
    place("next");
    expect(became("next")).toBe("Running");
    expect(events("NodeHasInsufficientMemory")).toBe(1);
  });

  it("memory altogether has an event for each process that the kernel killed, and none for one at a limit of its own", () => {
    const { node, place, events } = cluster({
      programs: ({ sandbox }) => ({
        usage: { cpuMilli: 0, memoryBytes: sandbox.metadata?.name === "hog" ? 40 * GIB : 200 * MIB, tasks: 1 },
      }),
    });
    const containers = [containerOf({ resources: { limits: { memory: "100Mi" } } })];
    place("limited", { restartPolicy: "Never", containers });
    expect([node.host.kernelLog.records.length, events("SystemOOM")]).toEqual([3, 0]);
    place("hog", { restartPolicy: "Never", ...requesting });
    expect([node.host.kernelLog.records.length, events("SystemOOM")]).toEqual([6, 1]);
  });

  it("memory shows which pods it would evict, and what is unused", () => {
    const { node, place } = cluster({ config: { pressureTransitionMs: 1_000 } });
    place("web", requesting);
    place("big", { containers: [containerOf({ resources: { requests: { memory: "1Gi" } } })] });
    let view: PressureView | undefined;
    node.kubelet?.queries.pressure().subscribe({ next: (found) => (view = found) });
    node.runFor(1_000);
    const measured = view?.signals.filter((each) => each.measured !== undefined).map(({ signal }) => signal);
    expect(measured).toEqual([
      "imagefs.available",
      "imagefs.inodesFree",
      "memory.available",
      "nodefs.available",
      "nodefs.inodesFree",
    ]);
    expect(view?.eviction.pods.map(({ name }) => name).toSorted()).toEqual(["big", "web"]);
    expect(view?.reclaim).toMatchObject({
      deadContainers: 0,
      images: { unused: { count: 0 }, kept: { first: [{ reason: "used by default/web and 1 more" }] } },
    });
  });

  it("disk admits only critical pods", () => {
    const { node, place, reported, became } = cluster();
    node.host.disk.fill("/", "somebody", { bytes: 90 * GIB });
    node.runFor(10_000);
    expect([reported("DiskPressure"), reported("MemoryPressure").slice(0, 5)]).toEqual([
      "True KubeletHasDiskPressure: kubelet has disk pressure",
      "False",
    ]);
    place("web", requesting);
    place("critical", { ...requesting, priority: 2_000_000_000 });
    // The image was unused, so it is gone and must be pulled again.
    node.runFor(10_000);
    expect([became("web"), became("critical")]).toEqual([refused("DiskPressure"), "Running"]);
  });

  it("inodes reports disk pressure; of process ids only with a threshold", () => {
    const pid = { signal: "pid.available", least: { units: 100 }, graceMs: 0, reclaim: undefined } as const;
    const inodes = { ...pid, signal: "imagefs.inodesFree", least: { share: 0.05 } } as const;
    const { node, place, reported, became } = cluster({
      config: { evictionThresholds: [pid, inodes], pressureTransitionMs: 15_000 },
    });
    node.host.disk.fill("/", "somebody", { inodes: 6_500_000 });
    place("hog");
    node.runFor(10_000);
    expect([reported("PIDPressure"), reported("DiskPressure").slice(0, 4)]).toEqual([
      "True KubeletHasInsufficientPID: kubelet has insufficient PID available",
      "True",
    ]);
    place("web", requesting);
    expect(became("web")).toBe(refused("DiskPressure PIDPressure"));
  });

  it("resources without thresholds reports no pressure", () => {
    const { node, place, reported, became } = cluster({ config: { evictionThresholds: [] } });
    node.host.disk.fill("/", "somebody", { bytes: 99 * GIB });
    place("hog");
    node.runFor(20_000);
    place("web");
    const conditions = ["MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => reported(type).slice(0, 5));
    expect([conditions, became("web")]).toEqual([["False", "False", "False"], "Running"]);
  });
});
