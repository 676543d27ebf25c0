/** A whole node that evicts pods under pressure: which pod goes, and what the API server learns of it. */
import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../src/core/api.ts";
import { createSimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { containerOf } from "../support/pods.ts";
import { newPod } from "../support/simApi.ts";

const GIB = 2 ** 30;
const MIB = 2 ** 20;
const requesting = (memory: string) => ({ containers: [containerOf({ resources: { requests: { memory } } })] });

/** A node of 32 GiB in a cluster; `memoryBytes` is the usage of pods by name. */
function cluster(memoryBytes: Readonly<Record<string, number>> = {}) {
  const scheduler = createHeapScheduler();
  const server = createSimApiServer({ clock: createSimClock(scheduler), latency: () => 2 });
  const node = createSimNode({
    seed: "one",
    scheduler,
    api: server,
    images: [simImage("registry.example/app:1")],
    programs: ({ sandbox }) => ({
      usage: { cpuMilli: 0, memoryBytes: memoryBytes[sandbox.metadata?.name ?? ""] ?? 0, tasks: 1 },
    }),
    config: { nodeName: "one" },
  });
  const place = (name: string, spec: Partial<PodSpec> = {}): void => {
    server.put("pods", newPod(name, spec));
    server.schedule({ namespace: "default", name }, "one");
  };
  const statusOf = (name: string) => server.object("pods", { namespace: "default", name })?.status;
  const phases = (...names: readonly string[]): string =>
    names.map((name) => `${name}:${statusOf(name)?.reason ?? statusOf(name)?.phase}`).join(" ");
  const events = (reason: string) => server.objects("events").filter((event) => event.reason === reason);
  node.runFor(1_000);
  return { server, node, place, statusOf, phases, events };
}

describe("a node short of memory", () => {
  it("evicts the pod furthest beyond its request, and reports it in upstream's words", () => {
    const { node, place, statusOf, phases, events } = cluster({ fair: 12 * GIB, hog: 20 * GIB - 64 * MIB });
    place("fair", requesting("12Gi"));
    place("hog", requesting("1Gi"));
    node.runFor(15_000);
    expect(phases("fair", "hog")).toBe("fair:Running hog:Evicted");
    const message =
      "The node was low on resource: memory. Threshold quantity: 100Mi, available: 64Mi. " +
      "Container main was using 20416Mi, request is 1Gi, has larger consumption of memory. ";
    const { phase, reason, message: said, conditions = [] } = statusOf("hog") ?? {};
    expect({ phase, reason, said }).toEqual({ phase: "Failed", reason: "Evicted", said: message });
    expect(conditions.find(({ type }) => type === "DisruptionTarget")).toMatchObject({
      status: "True",
      reason: "TerminationByKubelet",
      message,
    });
    expect(events("Evicted")).toMatchObject([
      {
        message,
        involvedObject: { kind: "Pod", name: "hog" },
        metadata: {
          annotations: {
            offending_containers: "main",
            offending_containers_usage: "20416Mi",
            starved_resource: "memory",
          },
        },
      },
    ]);
    expect(events("EvictionThresholdMet")).toMatchObject([
      { message: "Attempting to reclaim memory", type: "Warning", involvedObject: { kind: "Node", name: "one" } },
    ]);
    expect(node.telemetry.value("kubelet_evictions", { eviction_signal: "memory.available" })).toBe(1);
    node.runFor(300_000);
    expect([phases("fair"), events("Evicted").length, node.violations]).toEqual(["fair:Running", 1, []]);
  });

  it("evicts one pod after the other, each as soon as the one before is gone", () => {
    const { node, place, phases } = cluster({ a: 60 * MIB, b: 50 * MIB, c: 40 * MIB, base: 32 * GIB - 160 * MIB });
    place("base", { ...requesting("31Gi"), priority: 2_000_000_000 });
    for (const name of ["a", "b", "c"]) place(name);
    node.runFor(10_000);
    expect(phases("base", "a", "b", "c")).toBe("base:Running a:Evicted b:Evicted c:Running");
    node.runFor(60_000);
    expect(phases("base", "c")).toBe("base:Running c:Running");
    expect(node.violations).toEqual([]);
  });
});
