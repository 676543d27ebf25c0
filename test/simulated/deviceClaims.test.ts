/** Pods that claim devices (Dynamic Resource Allocation): from the claim to the container, and back. */
import { describe, expect, it } from "vitest";
import type { ApiObjects } from "../../src/core/api/apiResources.ts";
import type { Pod } from "../../src/core/api.ts";
import { timelineText } from "../../src/core/timeline/timelineText.ts";
import { HealthStatus, NodeWatchResourcesResponse } from "../../src/gen/dra.ts";
import { createSimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { createSimDraDrivers, simCdiDevice, type SimDraDrivers } from "../../src/sim/host/simDraDrivers.ts";
import { exitsWith, runsForever } from "../../src/sim/runtime/simProgram.ts";
import type { SimNodeOptions } from "../../src/sim/simNodeOptions.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { podNode } from "../support/podNode.ts";
import { containerOf, podOf } from "../support/pods.ts";
import { newPod } from "../support/simApi.ts";

const DRIVER = "gpu.example.com";
const STATE_FILE = "/var/lib/kubelet/dra_manager_state";
const container = containerOf({ resources: { claims: [{ name: "gpu" }] } });
const claiming = (name: string, claim: string, more: Partial<Pod["spec"]> = {}) =>
  newPod(name, { containers: [container], resourceClaims: [{ name: "gpu", resourceClaimName: claim }], ...more });
const ref = (name: string) => ({ namespace: "default", name });

/** A node in a cluster, with drivers that are not registered yet. */
function cluster(options: Partial<SimNodeOptions> = {}) {
  const scheduler = createHeapScheduler();
  const server = createSimApiServer({ clock: createSimClock(scheduler), latency: () => 2 });
  const drivers: SimDraDrivers = createSimDraDrivers(createSimClock(scheduler));
  const made = podNode({
    scheduler,
    api: server,
    programs: () => runsForever,
    draDrivers: () => drivers,
    ...options,
  });
  const { node } = made;
  const uidOf = (pod: string): string => server.object("pods", ref(pod))?.metadata?.uid ?? "";
  const setStatus = (name: string, status: ApiObjects["resourceclaims"]["status"]): void => {
    const known = server.object("resourceclaims", ref(name));
    if (known === undefined || status === undefined) throw new Error(`there is no claim ${name}`);
    server
      .client()
      .update("resourceclaims", { ...known, status }, { subresource: "status" })
      .subscribe({});
    node.runFor(10);
  };
  return {
    ...made,
    server,
    drivers,
    /** Makes an allocated claim that these pods have reserved. */
    putClaim(name: string, pods: readonly string[], driverNames: readonly string[] = [DRIVER]): void {
      server.put("resourceclaims", { metadata: ref(name), spec: {} });
      const results = driverNames.map((driver) => ({ driver, pool: "pool", device: name, request: "r" }));
      const reservedFor = pods.map((pod) => ({ resource: "pods", name: pod, uid: uidOf(pod) }));
      setStatus(name, { allocation: { devices: { results } }, reservedFor });
    },
    putPod(pod: ReturnType<typeof newPod>): void {
      server.put("pods", pod);
      server.schedule(ref(pod.metadata?.name ?? ""), node.config.nodeName);
    },
    statusOf: (pod: string) => server.object("pods", ref(pod))?.status,
    eventsOf: (reason: string) => made.events.filter(({ what }) => what.startsWith(`${reason} `)).length,
    cdiDevices: () => node.runtime.containers().map(({ config }) => config.CDIDevices.map(({ name }) => name)),
    driverCalls: () => drivers.calls.map(({ rpc, driver, claims }) => `${rpc} ${driver} ${claims.join(" ")}`),
  };
}

describe("a pod with a claim", () => {
  it("starts nothing before its driver is there, says so, and starts as soon as it is", () => {
    const { node, drivers, calls, putPod, putClaim, statusOf, driverCalls, cdiDevices, check } = cluster();
    putPod(claiming("web", "gpu-1"));
    putClaim("gpu-1", ["web"]);
    node.runFor(60_000);
    const message =
      "Failed to prepare dynamic resources: prepare dynamic resources: DRA driver gpu.example.com is not registered";
    expect(calls).toEqual([]);
    expect(statusOf("web")?.phase).toBe("Pending");
    expect(statusOf("web")?.containerStatuses?.[0]?.state).toEqual({
      waiting: { reason: "FailedPrepareDynamicResources", message },
    });
    const view = node.kubelet?.queries.timeline("default", "web");
    expect(view && timelineText(view)).toContain(message);
    drivers.register(DRIVER);
    node.runFor(50);
    expect(node.running()).toEqual(["default/web/main#0"]);
    expect(driverCalls()).toEqual([`prepare ${DRIVER} gpu-1`]);
    expect(cdiDevices()).toEqual([[simCdiDevice(DRIVER, "gpu-1")]]);
    node.runFor(1_000);
    expect(statusOf("web")?.containerStatuses?.[0]?.state?.running).toBeDefined();
    check();
  });

  it("is deleted from the API server only after its claims are unprepared", () => {
    const { node, drivers, server, putPod, putClaim, statusOf, driverCalls, eventsOf, check } = cluster({
      programs: () => exitsWith(0, 5_000),
    });
    drivers.register(DRIVER);
    putPod(claiming("job", "gpu-1", { restartPolicy: "Never" }));
    putClaim("gpu-1", ["job"]);
    drivers.setFate(({ rpc }) => (rpc === "unprepare" ? "refuse" : "answer"));
    node.runFor(20_000);
    expect([node.running(), statusOf("job")?.phase]).toEqual([[], "Running"]);
    expect(statusOf("job")?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(0);
    expect(eventsOf("FailedUnprepareDynamicResources")).toBeGreaterThan(0);
    drivers.setFate(() => "answer");
    node.runFor(20_000);
    expect([statusOf("job")?.phase, drivers.prepared]).toEqual(["Succeeded", []]);
    expect(driverCalls().at(-1)).toBe(`unprepare ${DRIVER} gpu-1`);
    server.delete("pods", ref("job"));
    node.runFor(5_000);
    expect(server.object("pods", ref("job"))).toBeUndefined();
    check();
  });

  it("is stopped first, then its claims are unprepared, then its object is deleted", () => {
    const { node, drivers, server, putPod, putClaim, calls, check } = cluster();
    drivers.register(DRIVER);
    putPod(claiming("web", "gpu-1"));
    putClaim("gpu-1", ["web"]);
    node.runFor(2_000);
    server.delete("pods", ref("web"));
    const isGone = node.runUntil(() => server.object("pods", ref("web")) === undefined, 60_000);
    const stopped = calls.find(({ what }) => what.startsWith("StopPodSandbox"));
    const [, unprepare] = drivers.calls;
    expect([isGone, unprepare?.rpc, drivers.prepared]).toEqual([true, "unprepare", []]);
    expect(stopped?.atMs).toBeLessThan(unprepare?.atMs ?? 0);
    node.runFor(5_000);
    check();
  });

  it("waits as the pod's own failures do, not for a minute and a half", () => {
    const { node, drivers, putPod, putClaim, eventsOf, check } = cluster();
    drivers.register(DRIVER);
    drivers.setFate(() => "refuse");
    putPod(claiming("web", "gpu-1"));
    putClaim("gpu-1", ["web"]);
    node.runFor(60_000);
    const starts = drivers.calls.map(({ atMs }) => atMs);
    const gaps = starts.slice(1).map((at, index) => at - (starts[index] ?? 0));
    expect(gaps.every((gap) => gap >= 10_000 && gap <= 15_500)).toBe(true);
    expect([starts.length, eventsOf("FailedPrepareDynamicResources")]).toEqual([5, 5]);
    drivers.setFate(() => "answer");
    node.runFor(16_000);
    expect(node.running()).toEqual(["default/web/main#0"]);
    check();
  });

  it("can be deleted at once while a driver hangs", () => {
    const { node, drivers, server, putPod, putClaim, driverCalls, calls, check } = cluster();
    drivers.register(DRIVER);
    drivers.setFate(({ rpc }) => (rpc === "prepare" ? "hang" : "answer"));
    putPod(claiming("web", "gpu-1"));
    putClaim("gpu-1", ["web"]);
    node.runFor(10_000);
    server.delete("pods", ref("web"));
    node.runFor(2_000);
    expect(server.object("pods", ref("web"))).toBeUndefined();
    expect([driverCalls(), calls]).toEqual([[`prepare ${DRIVER} gpu-1`, `unprepare ${DRIVER} gpu-1`], []]);
    check();
  });

  it("gets its devices again in a new sandbox without asking a driver that is away", () => {
    const { node, drivers, putPod, putClaim, driverCalls, cdiDevices, check } = cluster();
    drivers.register(DRIVER);
    putPod(claiming("web", "gpu-1"));
    putClaim("gpu-1", ["web"]);
    node.runFor(2_000);
    drivers.unregister(DRIVER);
    node.killSandbox("default/web");
    node.runFor(60_000);
    expect(node.running()).toEqual(["default/web/main#1"]);
    expect([driverCalls().length, cdiDevices().at(-1)]).toEqual([1, [simCdiDevice(DRIVER, "gpu-1")]]);
    check();
  });

  it("leaves the pods beside it alone", () => {
    const { node, putPod, check } = cluster();
    putPod(claiming("web", "gpu-1"));
    putPod(newPod("other", { containers: [containerOf()] }));
    node.runFor(10_000);
    expect(node.running()).toEqual(["default/other/main#0"]);
    check();
  });
});

describe("a claim of several pods", () => {
  it("is prepared once, and unprepared when the last of them has ended", () => {
    const { node, drivers, server, putPod, putClaim, driverCalls, check } = cluster();
    drivers.register(DRIVER);
    putPod(claiming("a", "gpu-1"));
    putPod(claiming("b", "gpu-1"));
    putClaim("gpu-1", ["a", "b"]);
    node.runFor(20_000);
    expect(node.running()).toEqual(["default/a/main#0", "default/b/main#0"]);
    server.delete("pods", ref("a"));
    node.runFor(40_000);
    expect([node.running(), driverCalls()]).toEqual([["default/b/main#0"], [`prepare ${DRIVER} gpu-1`]]);
    server.delete("pods", ref("b"));
    node.runFor(40_000);
    expect(driverCalls()).toEqual([`prepare ${DRIVER} gpu-1`, `unprepare ${DRIVER} gpu-1`]);
    check();
  });
});

describe("a pod with several claims", () => {
  it("asks each driver once, for all of them", () => {
    const { node, drivers, putPod, putClaim, driverCalls, cdiDevices, check } = cluster();
    drivers.register("a");
    drivers.register("b");
    const resourceClaims = ["x", "y"].map((name) => ({ name, resourceClaimName: `${name}-1` }));
    const containers = [containerOf({ resources: { claims: [{ name: "x" }] } })];
    putPod(newPod("web", { containers, resourceClaims }));
    putClaim("x-1", ["web"], ["a", "b"]);
    putClaim("y-1", ["web"], ["b"]);
    node.runFor(15_000);
    expect(driverCalls()).toEqual(["prepare a x-1", "prepare b x-1 y-1"]);
    expect(cdiDevices()).toEqual([[simCdiDevice("a", "x-1"), simCdiDevice("b", "x-1")]]);
    check();
  });
});

describe("after kill -9 of the kubelet", () => {
  const running = () => {
    const made = cluster();
    made.drivers.register(DRIVER);
    made.putPod(claiming("web", "gpu-1"));
    made.putClaim("gpu-1", ["web"]);
    made.node.runFor(2_000);
    expect(made.node.running()).toEqual(["default/web/main#0"]);
    return made;
  };

  it("a restarted container has its devices without another call", () => {
    const { node, driverCalls, cdiDevices, check } = running();
    node.crashKubelet();
    node.restartKubelet();
    node.runFor(5_000);
    node.kill("default/web/main");
    node.runFor(5_000);
    expect([driverCalls().length, cdiDevices().at(-1)]).toEqual([1, [simCdiDevice(DRIVER, "gpu-1")]]);
    check();
  });

  it("the claims of a pod that went meanwhile are unprepared", () => {
    const { node, server, drivers, driverCalls, check } = running();
    node.crashKubelet();
    node.powerOff();
    server.delete("pods", ref("web"), { gracePeriodSeconds: 0 });
    node.restartRuntime();
    node.restartKubelet();
    node.runFor(60_000);
    expect([driverCalls().at(-1), drivers.prepared]).toEqual([`unprepare ${DRIVER} gpu-1`, []]);
    check();
  });

  it("and with a damaged file the claims are read from the API server", () => {
    const { node, server, drivers, driverCalls, check } = running();
    node.crashKubelet();
    node.files.put(STATE_FILE, "{");
    node.restartKubelet();
    node.runFor(5_000);
    server.delete("pods", ref("web"));
    node.runFor(40_000);
    expect([driverCalls().at(-1), drivers.prepared]).toEqual([`unprepare ${DRIVER} gpu-1`, []]);
    expect(server.object("pods", ref("web"))).toBeUndefined();
    check();
  });
});

describe("the devices of a running pod", () => {
  it("have their health in its status, and unknown health once the driver is gone", () => {
    const { node, drivers, putPod, putClaim, statusOf, check } = cluster();
    const health = () => statusOf("web")?.containerStatuses?.[0]?.allocatedResourcesStatus;
    const resourceID = simCdiDevice(DRIVER, "gpu-1");
    drivers.register(DRIVER);
    putPod(claiming("web", "gpu-1"));
    putClaim("gpu-1", ["web"]);
    node.runFor(2_000);
    expect(health()).toEqual([{ name: "claim:gpu", resources: [{ resourceID, health: "Unknown" }] }]);
    const device = { poolName: "pool", deviceName: "gpu-1" };
    const unhealthy = { device, health: HealthStatus.UNHEALTHY, message: "too hot" };
    drivers.sendHealth(DRIVER, NodeWatchResourcesResponse.fromPartial({ devices: [unhealthy] }));
    node.runFor(1_000);
    expect(health()).toEqual([
      { name: "claim:gpu", resources: [{ resourceID, health: "Unhealthy", message: "too hot" }] },
    ]);
    drivers.unregister(DRIVER);
    node.runFor(1_000);
    expect(health()).toEqual([{ name: "claim:gpu", resources: [{ resourceID, health: "Unknown" }] }]);
    check();
  });

  it("may be extended resources that the scheduler claimed", () => {
    const { node, server, drivers, putClaim, driverCalls, cdiDevices, check } = cluster();
    const requests = { "example.com/gpu": "1" };
    drivers.register(DRIVER);
    server.put("pods", newPod("ext", { containers: [containerOf({ resources: { requests, limits: requests } })] }));
    const requestMappings = [{ containerName: "main", resourceName: "example.com/gpu", requestName: "r" }];
    const extendedResourceClaimStatus = { resourceClaimName: "ext-1", requestMappings };
    server.setStatus(ref("ext"), { ...server.object("pods", ref("ext"))?.status, extendedResourceClaimStatus });
    putClaim("ext-1", ["ext"]);
    server.schedule(ref("ext"), node.config.nodeName);
    node.runFor(15_000);
    expect(node.running()).toEqual(["default/ext/main#0"]);
    expect([driverCalls(), cdiDevices()]).toEqual([[`prepare ${DRIVER} ext-1`], [[simCdiDevice(DRIVER, "ext-1")]]]);
    check();
  });
});

describe("the ResourceSlices of the node", () => {
  const slices = (made: ReturnType<typeof cluster>, ...drivers: readonly string[]) => {
    for (const driver of drivers) {
      const spec = {
        driver,
        nodeName: made.node.config.nodeName,
        pool: { generation: 1, name: "p", resourceSliceCount: 1 },
      };
      made.server.put("resourceslices", { metadata: { name: `slice-${driver}` }, spec });
    }
    return () => made.server.objects("resourceslices").map(({ metadata }) => metadata?.name);
  };

  it("are deleted 30 s after their driver went, and stay over a restart of it", () => {
    const made = cluster();
    const { node, drivers, check } = made;
    for (const driver of ["a", "b"]) drivers.register(driver);
    const left = slices(made, "a", "b");
    node.runFor(60_000);
    drivers.unregister("a");
    drivers.connect("b", false);
    node.runFor(20_000);
    drivers.connect("b", true);
    expect(left()).toEqual(["slice-a", "slice-b"]);
    node.runFor(11_000);
    expect(left()).toEqual(["slice-b"]);
    check();
  });

  it("are deleted after a start unless their driver registers in time; those of other nodes stay", () => {
    const made = cluster();
    const { node, server, drivers, check } = made;
    const left = slices(made, "a", "b");
    const pool = { generation: 1, name: "p", resourceSliceCount: 1 };
    server.put("resourceslices", { metadata: { name: "other" }, spec: { driver: "a", nodeName: "other", pool } });
    node.runFor(10_000);
    drivers.register("b");
    node.runFor(19_000);
    expect(left()).toEqual(["slice-a", "slice-b", "other"]);
    node.runFor(2_000);
    expect(left()).toEqual(["slice-b", "other"]);
    check();
  });

  it("are deleted once the API server is back", () => {
    const made = cluster();
    const { node, server, check } = made;
    const left = slices(made, "a");
    node.runFor(20_000);
    server.setNetwork("refused");
    node.runFor(60_000);
    server.setNetwork("up");
    node.runFor(120_000);
    expect(left()).toEqual([]);
    check();
  });
});

describe("without an API server", () => {
  it.each([
    [
      "a claim",
      podOf({ spec: { containers: [container], resourceClaims: [{ name: "gpu", resourceClaimName: "c" }] } }),
    ],
    [
      "extended resources that the scheduler claimed",
      { ...podOf(), status: { extendedResourceClaimStatus: { requestMappings: [], resourceClaimName: "c" } } },
    ],
  ])("a pod with %s starts nothing, and ends at once", (_, pod) => {
    const { node, calls, waiting, check } = podNode({ pods: [pod] });
    node.runFor(60_000);
    expect([calls, waiting("uid-1")]).toEqual([[], "FailedPrepareDynamicResources"]);
    node.dropPod("uid-1");
    node.runFor(5_000);
    expect([node.pods(), calls]).toEqual([[], []]);
    check();
  });
});
