/** Pods that keep more on the node's disks than they may: found while somebody has a limit, evicted in upstream's words. */
import { describe, expect, it } from "vitest";
import type { SimNode } from "../../src/sim/simNode.ts";
import { podNode } from "../support/podNode.ts";
import { containerOf, podOf } from "../support/pods.ts";

const volumeMounts = [{ name: "data", mountPath: "/data" }];
const writing = (sizeLimit: string | undefined, more: object = {}) =>
  podOf({
    spec: {
      dnsPolicy: "Default",
      terminationGracePeriodSeconds: 600,
      volumes: [{ name: "data", emptyDir: sizeLimit === undefined ? {} : { sizeLimit } }],
      containers: [containerOf({ volumeMounts })],
      ...more,
    },
  });
const DATA = "/var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~empty-dir/data";

function nodeOf(pod: ReturnType<typeof podOf>, options: Parameters<typeof podNode>[0] = {}) {
  const asked: string[] = [];
  const made = podNode({
    pods: [pod],
    intercept: (rpc) => {
      if (rpc.endsWith("Stats")) asked.push(rpc);
      return { kind: "proceed" };
    },
    ...options,
  });
  made.node.runFor(5_000);
  return { ...made, asked };
}
const write = (node: SimNode, bytes: number) => node.files.put(`${DATA}/file`, "x".repeat(bytes));
const statusOf = (node: SimNode) => {
  const { phase, reason, message } = node.pods()[0]?.status ?? {};
  return { phase, reason, message };
};

describe("eviction of pods with too much local storage", () => {
  it("happens within a minute and a measurement, with a second of grace, and appears in event, status and metric", () => {
    const { node, events, check } = nodeOf(writing("64Ki"));
    write(node, 60 * 1024);
    node.runFor(80_000);
    expect(statusOf(node).phase).toBe("Running");
    write(node, 128 * 1024);
    const began = node.clock.monotonicMs();
    expect(node.runUntil(() => statusOf(node).phase === "Failed", 75_000)).toBe(true);
    expect(node.clock.monotonicMs() - began).toBeLessThan(75_000);
    const message = 'Usage of EmptyDir volume "data" exceeds the limit "64Ki". ';
    expect(statusOf(node)).toEqual({ phase: "Failed", reason: "Evicted", message });
    expect(events.filter(({ what }) => what.startsWith("Evicted"))).toHaveLength(1);
    expect(node.telemetry.value("kubelet_evictions", { eviction_signal: "emptydirfs.limit" })).toBe(1);
    node.runFor(60_000);
    expect(node.running()).toEqual([]);
    check();
  });

  it("measures nothing while no pod has a limit", () => {
    const { node, asked, check } = nodeOf(writing(undefined));
    write(node, 1024 * 1024);
    node.runFor(600_000);
    expect([statusOf(node).phase, asked]).toEqual(["Running", []]);
    check();
  });

  it("ends with the last pod that has a limit", () => {
    const { node, asked } = nodeOf(writing("1Gi"));
    node.runFor(60_000);
    expect(asked.length).toBeGreaterThan(3);
    node.dropPod("uid-1");
    node.runFor(60_000);
    asked.length = 0;
    node.runFor(60_000);
    expect(asked).toEqual([]);
  });

  it.each([
    ["is turned off", {}, { limitsLocalStorage: false }],
    ["spares critical pods", { priority: 2_000_000_000 }, {}],
    ["ignores usage while disk counts are turned off", {}, { diskStatsPeriodMs: 0 }],
  ])("%s", (_, spec, config) => {
    const { node, check } = nodeOf(writing("1Ki", spec), { config });
    write(node, 64 * 1024);
    node.runFor(300_000);
    expect(statusOf(node).phase).toBe("Running");
    check();
  });

  it("waits for a runtime that does not report the usage of its containers", () => {
    let isAway = true;
    const { node, check } = nodeOf(writing("1Ki"), {
      intercept: (rpc) => (isAway && rpc.endsWith("Stats") ? { kind: "hang" } : { kind: "proceed" }),
    });
    write(node, 64 * 1024);
    node.runFor(120_000);
    expect(statusOf(node).phase).toBe("Running");
    isAway = false;
    expect(node.runUntil(() => statusOf(node).reason === "Evicted", 60_000)).toBe(true);
    check();
  });
});
