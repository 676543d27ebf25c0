import { describe, expect, it } from "vitest";
import { sizesOf, withContainerSize, withReportedSizes } from "../../../../src/core/allocation/actualSizes.ts";
import { allocationOf } from "../../../../src/core/allocation/podAllocation.ts";
import {
  resizeCompletedEvent,
  resizeErrorEvent,
  resizePendingEvent,
  resizeStartedEvent,
} from "../../../../src/core/allocation/resizeMessages.ts";
import {
  memoryDecreaseProblem,
  planResize,
  type ResizePlan,
  type ResizeStep,
} from "../../../../src/core/allocation/resizePlan.ts";
import type { Container, Pod } from "../../../../src/core/api.ts";
import { containerId } from "../../../../src/core/ids.ts";
import { nodeContextOf } from "../../../support/nodeContext.ts";
import { ALL_RESIZABLE } from "../../../support/pods.ts";
import { container, exited, instance, pod, runtime, sidecar } from "../samples.ts";

type Amounts = Readonly<Record<string, string>>;
const config = {
  resizableParts: ALL_RESIZABLE,
  cpuCfsQuota: true,
  cpuCfsPeriodUs: 100_000,
  podPidsLimit: 0,
  memoryQos: undefined,
};

const sized = (name: string, limits: Amounts, more: Partial<Container> = {}, requests = limits): Container =>
  container(name, { resources: { requests: { ...requests }, limits: { ...limits } }, ...more });
const plan = (from: Pod, to: Pod, instances = to.spec.containers.map(({ name }) => instance(name))) =>
  planResize({
    pod: to,
    runtime: runtime(instances),
    sizes: sizesOf(allocationOf(from)),
    node: nodeContextOf(),
    config,
  });

/** `cgroup cpuShares=2048`, `web cpu=1024/200000 memory=4`. */
function short(step: ResizeStep): string {
  if (step.kind === "cgroup") {
    return `cgroup ${Object.entries(step.limits)
      .map(([name, amount]) => `${name}=${amount}`)
      .join(" ")}`;
  }
  const { cpuShares, cpuQuota, memoryLimitInBytes } = step.resources;
  return `${step.name} cpu=${cpuShares}/${cpuQuota} memory=${memoryLimitInBytes}`;
}
const steps = (found: ResizePlan | undefined): readonly string[] | undefined => found?.steps.map(short);
const of = (...containers: readonly Container[]): Pod => pod({ containers });
const SMALL = { cpu: "1", memory: "4" };
const LARGE = { cpu: "2", memory: "8" };

describe("planResize", () => {
  it("returns no plan when the allocated size is actuated", () => {
    expect(plan(of(sized("web", SMALL)), of(sized("web", { cpu: "1000m", memory: "4" })))).toBeUndefined();
  });

  it("grows memory, then CPU; the pod before its container, limits before requests", () => {
    expect(steps(plan(of(sized("web", SMALL)), of(sized("web", LARGE))))).toEqual([
      "cgroup memoryLimitBytes=8",
      "web cpu=1024/100000 memory=8",
      "cgroup cpuQuotaUs=200000 cpuPeriodUs=100000",
      "cgroup cpuShares=2048",
      "web cpu=2048/200000 memory=8",
    ]);
  });

  it("shrinks the pod after its container, requests before limits", () => {
    const found = plan(of(sized("web", LARGE)), of(sized("web", SMALL)));
    expect(steps(found)).toEqual([
      "web cpu=2048/200000 memory=4",
      "cgroup memoryLimitBytes=4",
      "web cpu=1024/100000 memory=4",
      "cgroup cpuShares=1024",
      "cgroup cpuQuotaUs=100000 cpuPeriodUs=100000",
    ]);
    expect(found?.decreases).toEqual([{ limitBytes: 4n }, { container: { name: "web", id: "web-0" }, limitBytes: 4n }]);
  });

  it("counts a limit as less than none, of the pod and of its container", () => {
    const requests = SMALL;
    const [none, limited] = [of(sized("web", {}, {}, requests)), of(sized("web", SMALL, {}, requests))];
    const found = plan(none, limited);
    expect(found?.decreases).toEqual([{ limitBytes: 4n }, { container: { name: "web", id: "web-0" }, limitBytes: 4n }]);
    expect(steps(found)).toEqual([
      "web cpu=1024/0 memory=4",
      "cgroup memoryLimitBytes=4",
      "web cpu=1024/100000 memory=4",
      "cgroup cpuQuotaUs=100000 cpuPeriodUs=100000",
    ]);
    expect(plan(limited, none)?.decreases).toEqual([]);
  });

  it("shrinks one container before it grows another", () => {
    const found = plan(of(sized("a", SMALL), sized("b", LARGE)), of(sized("a", LARGE), sized("b", SMALL)));
    expect(steps(found)).toEqual([
      "b cpu=2048/200000 memory=4",
      "a cpu=1024/100000 memory=8",
      "b cpu=1024/100000 memory=4",
      "a cpu=2048/200000 memory=8",
    ]);
  });

  it("writes only what changes", () => {
    const more = sized("web", { ...SMALL, cpu: "2" });
    expect(steps(plan(of(sized("web", SMALL)), of(more)))).toEqual([
      "cgroup cpuQuotaUs=200000 cpuPeriodUs=100000",
      "cgroup cpuShares=2048",
      "web cpu=2048/200000 memory=4",
    ]);
    const request = sized("web", SMALL, {}, { cpu: "500m", memory: "4" });
    expect(steps(plan(of(sized("web", SMALL)), of(request)))).toEqual([
      "web cpu=512/100000 memory=4",
      "cgroup cpuShares=512",
    ]);
  });

  it("gives a container its swap when its memory limit rises above its request", () => {
    const [from, to] = [of(sized("web", SMALL)), of(sized("web", { cpu: "1", memory: "8" }, {}, SMALL))];
    const node = nodeContextOf({ cgroupVersion: 2, memoryBytes: 16n, podSwapBytes: 8n });
    const found = planResize({
      ...{ pod: to, runtime: runtime([instance("web")]), sizes: sizesOf(allocationOf(from)), node, config },
    });
    const swap = found?.steps.map((step) => step.kind === "container" && step.resources.unified["memory.swap.max"]);
    expect(swap).toEqual([false, "2"]);
  });

  it("has no step for a memory request, which no cgroup file contains, but a size to record", () => {
    const found = plan(of(sized("web", SMALL)), of(sized("web", SMALL, {}, { cpu: "1", memory: "2" })));
    expect(found).toEqual({ restarts: [], decreases: [], steps: [] });
  });

  it("sets the cgroup for containers that do not run", () => {
    const found = plan(of(sized("web", SMALL)), of(sized("web", LARGE)), [exited("web", 1)]);
    expect(steps(found)?.every((step) => step.startsWith("cgroup"))).toBe(true);
    expect(found?.steps.length).toBe(3);
  });

  it("restarts containers whose changed resource has the policy RestartContainer", () => {
    const restart = (resourceName: string) => ({ resizePolicy: [{ resourceName, restartPolicy: "RestartContainer" }] });
    const found = (resourceName: string, to: Amounts) =>
      plan(of(sized("web", SMALL)), of(sized("web", to, restart(resourceName))))?.restarts;
    expect([found("memory", LARGE), found("cpu", LARGE)]).toEqual([["web"], ["web"]]);
    expect(found("memory", { ...SMALL, cpu: "2" })).toEqual([]);
    const all = plan(of(sized("web", SMALL)), of(sized("web", LARGE, restart("memory"))));
    expect(steps(all)?.every((step) => step.startsWith("cgroup"))).toBe(true);
  });

  it("gives containers without limits the pod-level limits", () => {
    const own = (cpu: string) =>
      pod({ resources: { limits: { cpu }, requests: { cpu } }, containers: [container("web")] });
    expect(steps(plan(own("1"), own("2")))).toEqual([
      "cgroup cpuQuotaUs=200000 cpuPeriodUs=100000",
      "cgroup cpuShares=2048",
      "web cpu=2048/200000 memory=0",
    ]);
  });

  describe("of pod-level limits", () => {
    const POLICED = {
      resizePolicy: ["cpu", "memory"].map((resourceName) => ({ resourceName, restartPolicy: "RestartContainer" })),
    };
    const under = (limits: Amounts, ...containers: readonly Container[]): Pod =>
      pod({ resources: { limits, requests: limits }, containers });
    const MORE_CPU = { ...SMALL, cpu: "2" };
    const MORE_MEMORY = { ...SMALL, memory: "8" };
    const policed = (resourceName: string): Partial<Container> => ({
      resizePolicy: [{ resourceName, restartPolicy: "RestartContainer" }],
    });

    it.each<[string, Container, Amounts, readonly string[]]>([
      ["restarts a container that inherits the CPU limit", container("web", policed("cpu")), MORE_CPU, ["web"]],
      [
        "restarts a container that inherits the memory limit",
        container("web", policed("memory")),
        MORE_MEMORY,
        ["web"],
      ],
      ["restarts nothing for the other resource", container("web", policed("memory")), MORE_CPU, []],
      ["restarts nothing without a policy", container("web"), LARGE, []],
      ["restarts no container with its own limits", sized("web", SMALL, POLICED), LARGE, []],
      ["counts a limit of zero as none", sized("web", { cpu: "0" }, POLICED, {}), MORE_CPU, ["web"]],
      [
        "restarts nothing when a limit is written in another way",
        container("web", POLICED),
        { ...SMALL, cpu: "1000m" },
        [],
      ],
      [
        "restarts a container that inherits one of two limits for that one alone",
        sized("web", { cpu: "1" }, POLICED),
        MORE_CPU,
        [],
      ],
    ])("%s", (_title, web, limits, restarts) => {
      expect(plan(under(SMALL, web), under(limits, web))?.restarts ?? []).toEqual(restarts);
    });

    it("restarts sidecars that inherit them, and no init container that ends by itself", () => {
      const initContainers = [{ ...sidecar("proxy"), ...POLICED }, container("setup", POLICED)];
      const at = (limits: Amounts): Pod =>
        pod({ initContainers, resources: { limits }, containers: [container("web")] });
      const running = ["proxy", "setup", "web"].map((name) => instance(name));
      expect(plan(at(SMALL), at(LARGE), running)?.restarts).toEqual(["proxy"]);
    });

    it("leave an instance alone that was made with them, whatever the pod's cgroup has", () => {
      const to = under(LARGE, container("web", POLICED));
      const sizes = sizesOf(allocationOf(under(SMALL, container("web"))));
      const known = withContainerSize(sizes, containerId("web-0"), { own: {}, pod: { limits: LARGE } });
      const found = planResize({
        pod: to,
        runtime: runtime([instance("web")]),
        sizes: known,
        node: nodeContextOf(),
        config,
      });
      expect([found?.restarts, steps(found)?.filter((step) => step.startsWith("web"))]).toEqual([[], []]);
    });

    it("are set again for an instance made with others, although the pod's cgroup has them", () => {
      const of = under(SMALL, container("web"));
      const sizes = withContainerSize(sizesOf(allocationOf(of)), containerId("web-0"), {
        own: {},
        pod: { limits: LARGE, requests: LARGE },
      });
      const found = planResize({ pod: of, runtime: runtime([instance("web")]), sizes, node: nodeContextOf(), config });
      expect(steps(found)).toEqual(["web cpu=2048/200000 memory=4", "web cpu=1024/100000 memory=4"]);
    });

    it("are those of the spec while they cannot be resized", () => {
      const web = container("web", POLICED);
      const found = planResize({
        pod: under(LARGE, web, sized("b", LARGE)),
        runtime: runtime([instance("web"), instance("b")]),
        sizes: sizesOf(allocationOf(under(SMALL, web, sized("b", SMALL)))),
        node: nodeContextOf(),
        config: { ...config, resizableParts: { ...ALL_RESIZABLE, podLevel: false } },
      });
      expect(found?.restarts).toEqual([]);
      expect(steps(found)?.some((step) => step.startsWith("b "))).toBe(true);
    });
  });

  it("resizes sidecars like other containers", () => {
    const withProxy = (amounts: Amounts) =>
      pod({ initContainers: [{ ...sidecar("proxy"), ...sized("proxy", amounts, { restartPolicy: "Always" }) }] });
    const found = plan(withProxy(SMALL), withProxy({ ...SMALL, cpu: "2" }), [instance("proxy"), instance("web")]);
    expect(steps(found)).toEqual(["cgroup cpuShares=2048", "proxy cpu=2048/200000 memory=4"]);
  });
});

describe("actuated sizes", () => {
  it("of an instance override those of an earlier kubelet", () => {
    const to = of(sized("web", LARGE));
    const known = withContainerSize(sizesOf(allocationOf(of(sized("web", SMALL)))), containerId("web-0"), LARGE_SIZE);
    const found = planResize({
      pod: to,
      runtime: runtime([instance("web")]),
      sizes: known,
      node: nodeContextOf(),
      config,
    });
    expect(steps(found)?.some((step) => step.startsWith("web"))).toBe(false);
  });

  it("come from the runtime when it reports the allocated ones", () => {
    const to = of(sized("a", LARGE), sized("b", LARGE));
    const at = runtime([instance("a"), instance("b")]);
    const sizes = withReportedSizes(
      to,
      at,
      sizesOf(allocationOf(of(sized("a", SMALL), sized("b", SMALL)))),
      ({ name }) => name === "a",
    );
    expect([...sizes.containers]).toEqual([["a-0", LARGE_SIZE]]);
  });
});
const LARGE_SIZE = { own: { requests: LARGE, limits: LARGE }, pod: undefined };

describe("memoryDecreaseProblem", () => {
  const used = { pod: 9n, containers: new Map([["web-0", 6n]]) };
  const web = { name: "web", id: containerId("web-0") };
  it.each([
    ["above all usage", [{ limitBytes: 10n }, { container: web, limitBytes: 7n }], undefined],
    [
      "of the pod",
      [{ limitBytes: 9n }],
      "cannot decrease memory limits: attempting to set pod memory limit (9) below current usage (9)",
    ],
    [
      "of both",
      [{ limitBytes: 4n }, { container: web, limitBytes: 4n }],
      'cannot decrease memory limits: [attempting to set pod memory limit (4) below current usage (9), attempting to set container "web" memory limit (4) below current usage (6)]',
    ],
    [
      "of a container without a measurement",
      [{ container: { name: "b", id: containerId("b-0") }, limitBytes: 1n }],
      undefined,
    ],
  ])("%s", (_title, decreases, message) => {
    expect(memoryDecreaseProblem(decreases, used)).toBe(message);
  });
});

describe("events of resizes", () => {
  const resized: Pod = {
    ...of(sized("web", { memory: "4", cpu: "1" })),
    metadata: { name: "web", namespace: "default", uid: "uid", generation: 5 },
  };
  const size =
    '{"containers":[{"name":"web","resources":{"limits":{"cpu":"1","memory":"4"},"requests":{"cpu":"1","memory":"4"}}}],"generation":5';
  it.each([
    [resizeStartedEvent(resized), "Normal", "ResizeStarted", `Pod resize started: ${size}}`],
    [resizeCompletedEvent(resized), "Normal", "ResizeCompleted", `Pod resize completed: ${size}}`],
    [resizeErrorEvent(resized, "no"), "Warning", "ResizeError", `Pod resize error: ${size},"error":"no"}`],
    [
      resizePendingEvent(resized, "Deferred", "full"),
      "Warning",
      "ResizeDeferred",
      `Pod resize Deferred: ${size},"error":"full"}`,
    ],
    [
      resizePendingEvent(resized, "Infeasible", "never"),
      "Warning",
      "ResizeInfeasible",
      `Pod resize Infeasible: ${size},"error":"never"}`,
    ],
  ])("%#", (event, type, reason, message) => {
    expect([event.type, event.reason, event.message]).toEqual([type, reason, message]);
  });
});
