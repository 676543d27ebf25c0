/** The checker of sizes. Each case changes one thing on a settled node. */
import { expect, it } from "vitest";
import type { Pod, PodSpec } from "../../../src/core/api.ts";
import { openSizes, type SizedNode } from "../../../src/sim/checkers/sizesSettle.ts";
import { podNode } from "../../support/podNode.ts";
import { containerOf, podOf } from "../../support/pods.ts";

const GIB = 1024 ** 3;

const resourcesOf = (cpu: number) => {
  const size = { cpu: String(cpu), memory: "1Gi" };
  return { requests: size, limits: size };
};
const specOf = (cpu: number): Partial<PodSpec> => ({ containers: [containerOf({ resources: resourcesOf(cpu) })] });

/** A node of 8 CPUs with two running pods, of 2 and 3. */
function settledNode(): SizedNode {
  const { node } = podNode({
    pods: [podOf({ uid: "a", name: "a", spec: specOf(2) }), podOf({ uid: "b", name: "b", spec: specOf(3) })],
  });
  node.runFor(10_000);
  return node;
}

type Change = (node: SizedNode) => Partial<SizedNode>;

/** Replaces pod `a`. */
const withPod =
  (change: (pod: Pod) => Pod): Change =>
  (node) => {
    const pods = node.pods().map((pod) => (pod.metadata.name === "a" ? change(pod) : pod));
    return { pods: () => pods };
  };
const wants = (pod: Pod, cpu: number): Pod => ({ ...pod, spec: { ...pod.spec, ...specOf(cpu) } });
const says = (pod: Pod, type: string, reason: string): Pod => {
  const conditions = [...(pod.status?.conditions ?? []), { type, status: "True", reason, message: "why" }];
  return { ...pod, status: { ...pod.status, conditions } };
};
const pending = (cpu: number, reason: string): Change =>
  withPod((pod) => says(wants(pod, cpu), "PodResizePending", reason));
const granted = (cpu: number): Change =>
  withPod((pod) => {
    const { requests } = resourcesOf(cpu);
    const containerStatuses = (pod.status?.containerStatuses ?? []).map((each) => ({
      ...each,
      allocatedResources: requests,
      resources: resourcesOf(cpu),
    }));
    const status = { ...pod.status, allocatedResources: requests, resources: resourcesOf(cpu), containerStatuses };
    return { ...wants(pod, cpu), status };
  });
const withRuntime =
  (change: { readonly cpuShares?: bigint; readonly cpuQuota?: bigint; readonly memoryLimitInBytes?: bigint }): Change =>
  ({ runtime }) => {
    const containers = runtime.containers().map((each) => ({
      ...each,
      resources: each.resources === undefined ? undefined : { ...each.resources, ...change },
    }));
    return { runtime: { sandboxes: runtime.sandboxes, containers: () => containers.slice(0, 1) } };
  };
/** All programs use as much memory as their limits. */
const usingAll: Change = ({ host }) => {
  const processes = host.processes.all().map((process) => ({ ...process, memoryBytes: GIB }));
  return { host: { processes: { all: () => processes } } };
};
const withCgroup =
  (change: { readonly memoryLimitBytes: number }): Change =>
  ({ cgroups }) => ({
    cgroups: {
      all: () =>
        new Map(
          [...cgroups.all()].map(([name, limits]) => [name, name.endsWith("poda") ? { ...limits, ...change } : limits]),
        ),
    },
  });

it.each<readonly [what: string, change: Change, found: readonly string[]]>([
  ["accepts sizes in force", () => ({}), []],
  ["accepts a deferred size that does not fit beside other pods", pending(6, "Deferred"), []],
  ["accepts an infeasible size that exceeds the node", pending(9, "Infeasible"), []],
  [
    "reports a deferred size that fits",
    pending(5, "Deferred"),
    ["demo/a has a pending resize that fits (Deferred: why)"],
  ],
  [
    "reports an infeasible size that fits without other pods",
    pending(6, "Infeasible"),
    ["demo/a has a pending resize that fits (Infeasible: why)"],
  ],
  [
    "reports a new size without a resize condition",
    withPod((pod) => wants(pod, 3)),
    [
      "demo/a has another size in its spec than was allocated, without a resize condition",
      "demo/a does not have its allocated size in force: main (allocated, status, runtime)",
      "demo/a has another size in its cgroup: cpuQuotaUs",
    ],
  ],
  [
    "reports a resize that stays in progress",
    withPod((pod) => says(pod, "PodResizeInProgress", "Error")),
    ["demo/a is still being resized: why"],
  ],
  [
    "accepts a resize of a pod that waits for its volumes and has no sandbox",
    (node) => ({
      ...withPod((pod) => says(pod, "PodResizeInProgress", ""))(node),
      runtime: {
        containers: node.runtime.containers,
        sandboxes: () => node.runtime.sandboxes().filter(({ config }) => config.metadata?.uid !== "a"),
      },
    }),
    [],
  ],
  [
    "accepts a resize that a container blocks which uses more memory than its new limit",
    (node) => ({ ...withPod((pod) => says(pod, "PodResizeInProgress", "Error"))(node), ...usingAll(node) }),
    [],
  ],
  [
    "reports a resize without an error beside such a container",
    (node) => ({ ...withPod((pod) => says(pod, "PodResizeInProgress", ""))(node), ...usingAll(node) }),
    ["demo/a is still being resized: why"],
  ],
  [
    "reports a wrong size in the status of the pod",
    withPod((pod) => ({ ...pod, status: { ...pod.status, resources: resourcesOf(1) } })),
    ["demo/a has another size in its pod status than was allocated"],
  ],
  [
    "reports an allocated size that is not in force",
    granted(1),
    [
      "demo/a does not have its allocated size in force: main (runtime)",
      "demo/a has another size in its cgroup: cpuShares, cpuQuotaUs",
    ],
  ],
  [
    "reports allocations that exceed the node",
    granted(6),
    [
      "pods have 9000 of cpu allocated, the node has 8000",
      "demo/a does not have its allocated size in force: main (runtime)",
      "demo/a has another size in its cgroup: cpuShares, cpuQuotaUs",
    ],
  ],
  [
    "reports another CPU weight in the runtime",
    withRuntime({ cpuShares: 2n }),
    ["demo/a does not have its allocated size in force: main (runtime)"],
  ],
  [
    "reports another CPU limit in the runtime",
    withRuntime({ cpuQuota: 1000n }),
    ["demo/a does not have its allocated size in force: main (runtime)"],
  ],
  [
    "reports another memory limit in the runtime",
    withRuntime({ memoryLimitInBytes: 1n }),
    ["demo/a does not have its allocated size in force: main (runtime)"],
  ],
  [
    "reports another limit in the cgroup of the pod",
    withCgroup({ memoryLimitBytes: 2 * GIB }),
    ["demo/a has another size in its cgroup: memoryLimitBytes"],
  ],
  ["ignores a terminal pod", withPod((pod) => ({ ...wants(pod, 3), status: { ...pod.status, phase: "Failed" } })), []],
])("%s", (_, change, found) => {
  const node = settledNode();
  expect(
    openSizes({
      config: node.config,
      pods: node.pods,
      runtime: node.runtime,
      cgroups: node.cgroups,
      host: node.host,
      ...change(node),
    }),
  ).toEqual(found);
});
