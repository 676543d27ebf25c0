/** The spans of pods on a whole simulated node, with the calls to its runtime below them. */
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../src/core/errors.ts";
import { timelineText } from "../../src/core/timeline/timelineText.ts";
import { createKubelet } from "../../src/kubelet.ts";
import type { SimNodeOptions } from "../../src/sim/simNodeOptions.ts";
import { podNode } from "../support/podNode.ts";
import { podOf } from "../support/pods.ts";
import { recordingTracing, spanLines, tracedPorts } from "../support/recordingTracing.ts";

/** A node whose kubelet is traced. */
function tracedNode(options: Partial<SimNodeOptions> = {}, isSampled = true) {
  const tracing = recordingTracing(isSampled);
  const made = podNode({
    pods: [podOf()],
    createKubelet: (config, ports) => createKubelet(config, tracedPorts(ports, tracing)),
    ...options,
  });
  /** Spans of pods, and the calls below them; or those of another kind. */
  const below = (name: RegExp) => {
    const roots = tracing.spans.filter((span) => name.test(span.name)).map(({ context }) => context.traceId);
    return tracing.spans.filter(({ context }) => roots.includes(context.traceId));
  };
  return { ...made, spans: tracing.spans, below };
}

const ATTRIBUTES = {
  "k8s.pod.uid": "uid-1",
  "k8s.pod": "demo/plain",
  "k8s.pod.name": "plain",
  "k8s.namespace.name": "demo",
};

describe("the spans of a pod", () => {
  it("are one per sync, with the calls of its start in order below the first", () => {
    const { node, below, check } = tracedNode();
    node.runFor(1_000);
    expect(spanLines(below(/^syncPod$/))).toEqual([
      "syncPod",
      "  imageStatus",
      "  runPodSandbox",
      "  podSandboxStatus",
      "  createContainer",
      "  startContainer",
      "syncPod",
    ]);
    check();
  });

  it("have upstream's attributes and scope, and say whether the pod is new", () => {
    const { node, below } = tracedNode();
    node.runFor(1_000);
    const syncs = below(/^syncPod$/).filter(({ name }) => name === "syncPod");
    expect(syncs.map(({ attributes }) => attributes)).toEqual([
      { ...ATTRIBUTES, "k8s.pod.update_type": "create" },
      { ...ATTRIBUTES, "k8s.pod.update_type": "sync" },
    ]);
    expect(new Set(syncs.map(({ scope, kind }) => `${scope} ${kind ?? "internal"}`))).toEqual(
      new Set(["k8s.io/kubernetes/pkg/kubelet internal"]),
    );
  });

  it("begin a trace each, and all end once", () => {
    const { node, spans, below } = tracedNode();
    node.runFor(1_000);
    const traces = below(/^syncPod$/).map(({ context }) => context.traceId);
    expect(new Set(traces).size).toBe(2);
    expect(spans.filter(({ ends }) => ends !== 1)).toEqual([]);
  });

  it("follow the pod to its end", () => {
    const { node, below, check } = tracedNode();
    node.runFor(1_000);
    node.dropPod("uid-1");
    node.runFor(60_000);
    expect(spanLines(below(/^syncTerminat/))).toEqual([
      "syncTerminatingPod",
      "  stopContainer",
      "  stopPodSandbox",
      "syncTerminatingPod",
      "syncTerminatedPod",
      "  removeContainer",
      "  removePodSandbox",
      "syncTerminatedPod",
    ]);
    check();
  });

  it("note the failures of a sync", () => {
    const refused = kubeletError("Unknown", "the runtime says no");
    const { node, below } = tracedNode({
      intercept: (rpc) => (rpc === "RunPodSandbox" ? { kind: "fail", error: refused } : { kind: "proceed" }),
    });
    node.runFor(500);
    const [sync] = below(/^syncPod$/);
    expect(sync?.failure).toContain("the runtime says no");
    expect(sync?.events).toEqual([
      ["exception", { "exception.type": "Unknown", "exception.message": expect.stringContaining("says no") }],
    ]);
  });

  it("leave a trace in the timeline, if it is exported", () => {
    const { node, below } = tracedNode();
    node.runFor(1_000);
    const view = node.kubelet?.queries.timeline("demo", "plain");
    const last = below(/^syncPod$/).at(-1)?.context.traceId;
    expect(view?.traceId).toBe(last);
    expect(view === undefined ? "" : timelineText(view)).toContain(`  Latest trace: ${last}\n`);
  });

  it("leave no trace in the timeline, if it is not exported", () => {
    const { node, spans } = tracedNode({}, false);
    node.runFor(1_000);
    expect(spans.length).toBeGreaterThan(0);
    expect(node.kubelet?.queries.timeline("demo", "plain")).not.toHaveProperty("traceId");
  });
});

describe("the spans of the node", () => {
  it("have the calls of garbage collection below its rounds, and its looks beside them", () => {
    const { node, spans, below } = tracedNode();
    node.runFor(61_000);
    expect(spanLines(below(/^Containers\/GarbageCollect$/)).slice(0, 3)).toEqual([
      "Containers/GarbageCollect",
      "  listContainers",
      "  listPodSandbox",
    ]);
    expect(spanLines(below(/^Images\/GarbageCollect$/)).slice(0, 3)).toEqual([
      "Images/GarbageCollect",
      "  listImages",
      "  listContainers",
    ]);
    const scopes = spans.filter(({ name }) => name.endsWith("GarbageCollect")).map(({ scope }) => scope);
    expect([...new Set(scopes)].sort()).toEqual([
      "k8s.io/kubernetes/pkg/kubelet/images",
      "k8s.io/kubernetes/pkg/kubelet/kuberuntime",
    ]);
    const relists = spans.filter(({ name, parent }) => name === "listPodSandbox" && parent === undefined);
    expect(relists.length).toBeGreaterThan(0);
  });
});
