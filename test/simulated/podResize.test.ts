/** Resizes of API pods in place on a whole node: granted, waiting, refused, put in force, over a crash. */
import { describe, expect, it } from "vitest";
import type { Container, Pod } from "../../src/core/api.ts";
import { kubeletError } from "../../src/core/errors.ts";
import type { SimNode } from "../../src/sim/simNode.ts";
import { ignoresTerm, runsForever } from "../../src/sim/runtime/simProgram.ts";
import { NEW_IMAGE, type PodNode, podNode } from "../support/podNode.ts";
import { ALL_RESIZABLE, containerOf, podOf } from "../support/pods.ts";

const MIB = 1024 ** 2;

interface Size {
  readonly cpu: string;
  readonly memory: string;
}

interface Sized {
  readonly uid?: string;
  readonly generation?: number;
  readonly priority?: number;
  readonly container?: Partial<Container>;
}

/** A Guaranteed pod of one container, named after its UID. */
function sized(size: Size, { uid = "uid-1", generation = 1, priority, container }: Sized = {}): Pod {
  const pod = podOf({
    uid,
    name: uid,
    spec: {
      dnsPolicy: "Default",
      ...(priority === undefined ? {} : { priority }),
      containers: [containerOf({ ...container, resources: { requests: { ...size }, limits: { ...size } } })],
    },
  });
  return { ...pod, metadata: { ...pod.metadata, generation } };
}

const SMALL: Size = { cpu: "1", memory: "1Gi" };
const LARGE: Size = { cpu: "2", memory: "2Gi" };

const statusOf = (node: SimNode, uid = "uid-1") => node.pods().find((pod) => pod.metadata.uid === uid)?.status;

/** Resize conditions as `type generation reason: message`. */
const resizing = (node: SimNode, uid = "uid-1"): readonly string[] =>
  (statusOf(node, uid)?.conditions ?? [])
    .filter(({ type }) => type.startsWith("PodResize"))
    .map(({ type, observedGeneration, reason, message }) =>
      [type, observedGeneration, reason, message].filter((part) => part !== undefined).join(" "),
    );

/** Resources of the container in the runtime: `milliCPU memoryMiB`. */
const inForce = (node: SimNode, uid = "uid-1"): readonly string[] => {
  const sandboxes = new Map(node.runtime.sandboxes().map(({ id, config }) => [id, config.metadata?.uid]));
  return node.runtime
    .containers()
    .filter(({ sandboxId, phase }) => sandboxes.get(sandboxId) === uid && phase.kind === "running")
    .map(({ resources }) => `${Number(resources?.cpuQuota) / 100} ${Number(resources?.memoryLimitInBytes) / MIB}`);
};
const cgroup = (node: SimNode, uid = "uid-1") => node.cgroups.all().get(`/kubepods/pod${uid}`);

/** 8 CPUs and some 32 GiB, two of which the pod `other` leaves. */
const OTHER = sized({ cpu: "6", memory: "8Gi" }, { uid: "other" });

describe("a resize that needs a disabled feature gate", () => {
  const gated = (parts: Partial<typeof ALL_RESIZABLE>) => ({
    config: { resizableParts: { ...ALL_RESIZABLE, ...parts } },
  });
  const deeds = ({ calls, events }: PodNode): readonly string[] =>
    [...calls, ...events].map(({ what }) => what).filter((what) => what.startsWith("Update") || /Resiz/.test(what));

  it("InPlacePodVerticalScalingInitContainers: an init container under way keeps its size, and nothing is judged", () => {
    const made = (cpu: string): Pod => {
      const pod = sized(SMALL, { generation: Number(cpu) });
      const resources = { requests: { cpu, memory: "1Gi" }, limits: { cpu, memory: "1Gi" } };
      return { ...pod, spec: { ...pod.spec, initContainers: [containerOf({ name: "init", resources })] } };
    };
    const watch = podNode({ pods: [made("1")], programs: () => runsForever, ...gated({ initContainers: false }) });
    watch.node.runFor(1_000);
    watch.node.putPod(made("2"));
    watch.node.runFor(60_000);
    expect([deeds(watch), resizing(watch.node), inForce(watch.node)]).toEqual([[], [], ["1000 1024"]]);
    watch.check();
  });

  it("InPlacePodLevelResourcesVerticalScaling: the pod's cgroup stays, and its status tells no resources of the pod", () => {
    const made = (cpu: string): Pod => {
      const pod = sized(SMALL, { generation: Number(cpu) });
      return {
        ...pod,
        spec: { ...pod.spec, resources: { requests: { cpu, memory: "2Gi" }, limits: { cpu, memory: "2Gi" } } },
      };
    };
    const watch = podNode({ pods: [made("2")], ...gated({ podLevel: false }) });
    const quota = () => cgroup(watch.node)?.cpuQuotaUs;
    watch.node.runFor(1_000);
    const before = quota();
    watch.node.putPod(made("64"));
    watch.node.runFor(60_000);
    expect([deeds(watch), resizing(watch.node), before, quota()]).toEqual([[], [], 200_000, 200_000]);
    const { allocatedResources, resources } = statusOf(watch.node) ?? {};
    expect([allocatedResources, resources]).toEqual([undefined, undefined]);
  });
});

describe("a resize that fits", () => {
  it("grows a pod in place: its cgroup first, memory before CPU, and no restart", () => {
    const { node, takeCalls, events, check } = podNode({ pods: [sized(SMALL)] });
    node.runFor(1_000);
    takeCalls();
    node.putPod(sized(LARGE, { generation: 2 }));
    node.runFor(1_000);
    const resize = "UpdateContainerResources uid-1/main#0";
    expect(takeCalls()).toEqual([resize, resize, "UpdatePodSandboxResources uid-1"]);
    expect([inForce(node), node.running(), cgroup(node)]).toEqual([
      ["2000 2048"],
      ["demo/uid-1/main#0"],
      {
        cpuShares: 2048,
        cpuQuotaUs: 200_000,
        cpuPeriodUs: 100_000,
        hugePages: {},
        memoryLimitBytes: 2048 * MIB,
        pidsLimit: undefined,
      },
    ]);
    expect(events.slice(-2).map(({ what }) => what)).toEqual(["ResizeStarted uid-1", "ResizeCompleted uid-1"]);
    const status = statusOf(node);
    const { allocatedResources, resources } = status?.containerStatuses?.[0] ?? {};
    expect([allocatedResources, resources, status?.resources, resizing(node)]).toEqual([
      LARGE,
      { requests: LARGE, limits: LARGE },
      { requests: LARGE, limits: LARGE },
      [],
    ]);
    check();
  });

  it("shrinks a pod in place, its cgroup last", () => {
    const order: string[] = [];
    const watch = podNode({
      pods: [sized(LARGE)],
      watch: (seen) => {
        if (seen.kind === "call" && seen.rpc === "UpdateContainerResources") {
          order.push(`container, cgroup has ${Number(cgroup(watch.node)?.memoryLimitBytes) / MIB}`);
        }
      },
    });
    const { node, check } = watch;
    node.runFor(1_000);
    node.putPod(sized(SMALL, { generation: 2 }));
    node.runFor(1_000);
    expect(order).toEqual(["container, cgroup has 2048", "container, cgroup has 1024"]);
    expect([inForce(node), cgroup(node)?.memoryLimitBytes, cgroup(node)?.cpuQuotaUs]).toEqual([
      ["1000 1024"],
      1024 * MIB,
      100_000,
    ]);
    check();
  });

  it("restarts a container whose policy asks for it, and only for that resource", () => {
    const container = { resizePolicy: [{ resourceName: "memory", restartPolicy: "RestartContainer" }] };
    const { node, takeCalls, check } = podNode({ pods: [sized(SMALL, { container })] });
    node.runFor(1_000);
    takeCalls();
    node.putPod(sized({ ...SMALL, cpu: "2" }, { container, generation: 2 }));
    node.runFor(1_000);
    expect(takeCalls()).toEqual(["UpdateContainerResources uid-1/main#0", "UpdatePodSandboxResources uid-1"]);
    node.putPod(sized(LARGE, { container, generation: 3 }));
    node.runFor(60_000);
    expect(takeCalls().slice(0, 1)).toEqual(["StopContainer uid-1/main#0"]);
    expect([node.running(), inForce(node), resizing(node)]).toEqual([["demo/uid-1/main#1"], ["2000 2048"], []]);
    expect(cgroup(node)?.memoryLimitBytes).toBe(2048 * MIB);
    check();
  });

  describe("of a pod whose container has no limits of its own", () => {
    const resizePolicy = ["cpu", "memory"].map((resourceName) => ({ resourceName, restartPolicy: "RestartContainer" }));
    const whole = (size: Size, generation = 1): Pod => {
      const bare = sized(size, { generation });
      const containers = [containerOf({ resizePolicy })];
      return { ...bare, spec: { ...bare.spec, resources: { requests: { ...size }, limits: { ...size } }, containers } };
    };

    it("restarts the container when its policy asks for that: the limit it inherits changes", () => {
      const { node, takeCalls, check } = podNode({ pods: [whole(SMALL)] });
      node.runFor(1_000);
      for (const [index, size] of [{ ...SMALL, cpu: "2" }, LARGE, SMALL].entries()) {
        takeCalls();
        node.putPod(whole(size, index + 2));
        node.runFor(60_000);
        expect(takeCalls().filter((call) => call.startsWith("StopContainer"))).toEqual([
          `StopContainer uid-1/main#${index}`,
        ]);
        expect([inForce(node), resizing(node)]).toEqual([
          [`${Number(size.cpu) * 1000} ${Number.parseInt(size.memory, 10) * 1024}`],
          [],
        ]);
      }
      check();
    });

    it("restarts it once while the cgroup refuses the size, and again by no kubelet that starts meanwhile", () => {
      let refuses = false;
      const { node, check } = podNode({
        pods: [whole(SMALL)],
        cgroupFault: (operation, name) =>
          refuses && operation === "ensure" && name.endsWith("poduid-1") ? "Unknown" : undefined,
      });
      node.runFor(1_000);
      refuses = true;
      node.putPod(whole(LARGE, 2));
      node.runFor(60_000);
      expect([node.running(), inForce(node), cgroup(node)?.cpuQuotaUs]).toEqual([
        ["demo/uid-1/main#1"],
        ["2000 2048"],
        100_000,
      ]);
      expect(resizing(node)[0]).toMatch(/^PodResizeInProgress 2 Error cannot ensure cgroup/);
      node.crashKubelet();
      node.restartKubelet();
      node.runFor(60_000);
      refuses = false;
      node.runFor(120_000);
      expect([node.running(), cgroup(node)?.cpuQuotaUs, resizing(node)]).toEqual([["demo/uid-1/main#1"], 200_000, []]);
      check();
    });
  });

  it("is reported as in progress, with the error, and retried while the runtime refuses it", () => {
    let refuses = true;
    const { node, events, check } = podNode({
      pods: [sized(SMALL)],
      callFault: (rpc) =>
        rpc === "UpdateContainerResources" && refuses
          ? { kind: "fail", error: kubeletError("Unknown", "no") }
          : { kind: "proceed" },
    });
    node.runFor(1_000);
    node.putPod(sized(LARGE, { generation: 2 }));
    node.runFor(30_000);
    const failing = resizing(node);
    const { allocatedResources, resources } = statusOf(node)?.containerStatuses?.[0] ?? {};
    expect([failing, allocatedResources, resources?.limits]).toEqual([
      ["PodResizeInProgress 2 Error no"],
      LARGE,
      SMALL,
    ]);
    refuses = false;
    node.runFor(30_000);
    expect([resizing(node), inForce(node)]).toEqual([[], ["2000 2048"]]);
    const reported = events.map(({ what }) => what).filter((what) => what.startsWith("Resize"));
    expect(reported).toEqual(["ResizeStarted uid-1", "ResizeError uid-1", "ResizeCompleted uid-1"]);
    check();
  });

  it("never tells that a container has completed which is restarted for its size, whatever its policy", () => {
    const container = { resizePolicy: [{ resourceName: "memory", restartPolicy: "RestartContainer" }] };
    const beside = containerOf({ name: "beside" });
    const onFailure = (pod: Pod): Pod => ({
      ...pod,
      spec: { ...pod.spec, restartPolicy: "OnFailure", containers: [...pod.spec.containers, beside] },
    });
    const states: string[] = [];
    const { node, check } = podNode({
      pods: [onFailure(sized(SMALL, { container }))],
      programs: () => ({ onTerm: { afterMs: 300, code: 0 } }),
      watch(seen) {
        if (seen.kind !== "status") return;
        const { phase, containerStatuses } = seen.after ?? {};
        states.push(`${phase} ${Object.keys(containerStatuses?.[0]?.state ?? {}).join()}`);
      },
    });
    node.runFor(1_000);
    node.putPod(onFailure(sized(LARGE, { generation: 2, container })));
    node.runFor(5_000);
    expect([[...new Set(states)], node.running(), inForce(node)]).toEqual([
      ["Pending waiting", "Pending running", "Running running", "Running waiting"],
      ["demo/uid-1/beside#0", "demo/uid-1/main#1"],
      ["0 0", "2000 2048"],
    ]);
    check();
  });

  it("takes back what had begun of a resize that is reverted halfway", () => {
    let refuses = true;
    const { node, check } = podNode({
      pods: [sized(SMALL)],
      callFault: (rpc) =>
        refuses && rpc === "UpdateContainerResources"
          ? { kind: "fail", error: kubeletError("Unknown", "no") }
          : { kind: "proceed" },
    });
    node.runFor(1_000);
    node.putPod(sized(LARGE, { generation: 2 }));
    node.runFor(5_000);
    const halfway = cgroup(node)?.memoryLimitBytes;
    refuses = false;
    node.putPod(sized(SMALL, { generation: 3 }));
    node.runFor(30_000);
    expect([halfway, cgroup(node)?.memoryLimitBytes, inForce(node), resizing(node)]).toEqual([
      2048 * MIB,
      1024 * MIB,
      ["1000 1024"],
      [],
    ]);
    check();
  });

  it("does not lower a memory limit below what is in use", () => {
    const { node, check } = podNode({
      pods: [sized(LARGE)],
      programs: () => ({ usage: { cpuMilli: 10, memoryBytes: 1500 * MIB } }),
    });
    node.runFor(1_000);
    node.putPod(sized(SMALL, { generation: 2 }));
    node.runFor(5_000);
    const [limit, used] = [1024 * MIB, 1500 * MIB];
    expect([resizing(node), inForce(node)]).toEqual([
      [
        "PodResizeInProgress 2 Error cannot decrease memory limits: " +
          `[attempting to set pod memory limit (${limit}) below current usage (${used}), ` +
          `attempting to set container "main" memory limit (${limit}) below current usage (${used})]`,
      ],
      ["2000 2048"],
    ]);
    check();
  });
});

describe("a resize that does not fit", () => {
  const GROWN: Size = { cpu: "3", memory: "1Gi" };
  const FULL = "Node didn't have enough resource: cpu, requested: 3000, used: 6000, capacity: 8000";

  it("is deferred, and granted as soon as another pod has gone", () => {
    const { node, events, check } = podNode({ pods: [OTHER, sized(SMALL)] });
    node.runFor(1_000);
    node.putPod(sized(GROWN, { generation: 2 }));
    node.runFor(5_000);
    expect([resizing(node), inForce(node)]).toEqual([[`PodResizePending 2 Deferred ${FULL}`], ["1000 1024"]]);
    expect(statusOf(node)?.containerStatuses?.[0]?.allocatedResources).toEqual(SMALL);
    node.dropPod("other");
    expect(node.runUntil(() => inForce(node)[0] === "3000 1024", 35_000)).toBe(true);
    node.runFor(1_000);
    expect(resizing(node)).toEqual([]);
    const reported = events.map(({ what }) => what).filter((what) => what.startsWith("Resize"));
    expect(reported).toEqual(["ResizeDeferred uid-1", "ResizeStarted uid-1", "ResizeCompleted uid-1"]);
    check();
  });

  it("is granted when another pod gives back what it needs, the more important of two first", () => {
    const first = { uid: "first", priority: 1 };
    const { node, check } = podNode({
      pods: [sized({ cpu: "5", memory: "1Gi" }, { uid: "other" }), sized(SMALL), sized(SMALL, first)],
    });
    node.runFor(1_000);
    node.putPod(sized(GROWN, { generation: 2 }));
    node.putPod(sized(GROWN, { ...first, generation: 2 }));
    node.runFor(1_000);
    node.putPod(sized({ cpu: "4", memory: "1Gi" }, { uid: "other", generation: 2 }));
    node.runFor(1_000);
    expect([inForce(node), inForce(node, "first"), inForce(node, "other")]).toEqual([
      ["1000 1024"],
      ["3000 1024"],
      ["4000 1024"],
    ]);
    check();
  });

  it("is forgotten when the spec goes back to what is granted", () => {
    const { node, check } = podNode({ pods: [OTHER, sized(SMALL)] });
    node.runFor(1_000);
    node.putPod(sized(GROWN, { generation: 2 }));
    node.runFor(1_000);
    node.putPod(sized(SMALL, { generation: 3 }));
    node.runFor(1_000);
    expect([resizing(node), inForce(node)]).toEqual([[], ["1000 1024"]]);
    check();
  });

  it("waits even for a size that the node will never have: to refuse that is the API server's", () => {
    const { node, events, check } = podNode({ pods: [sized(SMALL)] });
    node.runFor(1_000);
    node.putPod(sized({ cpu: "9", memory: "1Gi" }, { generation: 2 }));
    node.runFor(60_000);
    expect([resizing(node), inForce(node)]).toEqual([
      ["PodResizePending 2 Deferred Node didn't have enough resource: cpu, requested: 9000, used: 0, capacity: 8000"],
      ["1000 1024"],
    ]);
    expect(events.filter(({ what }) => what.startsWith("Resize")).map(({ what }) => what)).toEqual([
      "ResizeDeferred uid-1",
    ]);
    check();
  });
});

describe("a kubelet that starts again", () => {
  it("still grants no more than it had granted before", () => {
    const { node, check } = podNode({ pods: [OTHER, sized(SMALL)] });
    node.runFor(1_000);
    node.crashKubelet();
    node.putPod(sized({ cpu: "3", memory: "1Gi" }, { generation: 2 }));
    node.restartKubelet();
    node.runFor(5_000);
    const [pending = ""] = resizing(node);
    expect([pending.slice(0, 27), inForce(node)]).toEqual(["PodResizePending 2 Deferred", ["1000 1024"]]);
    check();
  });

  it("knows what was granted while the pod's worker was busy, and what another pod was given of it", () => {
    const large: Size = { cpu: "6", memory: "8Gi" };
    const shrunk: Size = { cpu: "1", memory: "1Gi" };
    const other = (size: Size, generation: number, image?: string) =>
      sized(size, { uid: "other", generation, ...(image === undefined ? {} : { container: { image } }) });
    const { node, calls, check } = podNode({ pods: [other(large, 1), sized(SMALL)], programs: () => ignoresTerm });
    node.runFor(1_000);
    // Its container is replaced, which takes as long as it may take to stop.
    node.putPod(other(large, 2, NEW_IMAGE));
    node.runFor(1_000);
    expect(calls.at(-1)?.what).toBe("StopContainer other/main#0");
    node.putPod(other(shrunk, 3, NEW_IMAGE));
    node.putPod(sized({ cpu: "6", memory: "2Gi" }, { generation: 2 }));
    node.runFor(1_000);
    expect(inForce(node)).toEqual(["6000 2048"]);
    node.crashKubelet();
    // A size the node could never grant: what it has granted counts.
    node.putPod(other({ cpu: "9", memory: "1Gi" }, 4, NEW_IMAGE));
    node.restartKubelet();
    node.runFor(60_000);
    expect([inForce(node), inForce(node, "other")]).toEqual([["6000 2048"], ["1000 1024"]]);
    check();
  });

  it("finishes a resize that was asked for while it was away", () => {
    const { node, check } = podNode({ pods: [sized(SMALL)] });
    node.runFor(1_000);
    node.crashKubelet();
    node.putPod(sized(LARGE, { generation: 2 }));
    node.restartKubelet();
    node.runFor(5_000);
    expect([inForce(node), resizing(node), node.running()]).toEqual([["2000 2048"], [], ["demo/uid-1/main#0"]]);
    check();
  });

  it("finishes a resize wherever the one before ended in it", () => {
    for (let afterMs = 0; afterMs <= 30; afterMs += 1) {
      const { node, check } = podNode({ pods: [sized(SMALL)] });
      node.runFor(1_000);
      node.putPod(sized(LARGE, { generation: 2 }));
      node.runFor(afterMs);
      node.crashKubelet();
      node.runFor(1_000);
      node.restartKubelet();
      node.runFor(15_000);
      const { memoryLimitBytes, cpuQuotaUs } = cgroup(node) ?? {};
      expect([afterMs, inForce(node), resizing(node), memoryLimitBytes, cpuQuotaUs, node.running()]).toEqual([
        afterMs,
        ["2000 2048"],
        [],
        2048 * MIB,
        200_000,
        ["demo/uid-1/main#0"],
      ]);
      check();
    }
  });
});
