/** A whole node in its cluster: Node object, lease, events, through outages and restarts. */
import { describe, expect, it } from "vitest";
import type { Node } from "../../src/core/api.ts";
import { createSimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import { simKubeletConfig } from "../../src/sim/simKubeletConfig.ts";
import { simMachine } from "../../src/sim/host/simMachine.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import type { SimNodeOptions } from "../../src/sim/simNodeOptions.ts";
import { runsForever } from "../../src/sim/runtime/simProgram.ts";
import { podNode } from "../support/podNode.ts";
import { containerOf, podOf } from "../support/pods.ts";
import { newPod } from "../support/simApi.ts";

const MINUTE_MS = 60_000;
const LEASE = { namespace: "kube-node-lease", name: "one" };

/** A server and a node of it, and what was written of the node: when, and Ready. */
function cluster(options: Partial<SimNodeOptions> = {}) {
  const scheduler = createHeapScheduler();
  const toldServices: (string | undefined)[] = [];
  const server = createSimApiServer({
    clock: createSimClock(scheduler),
    latency: () => 2,
    interceptEvent(resource, event) {
      if (resource === "services" && event.type === "ADDED") toldServices.push(event.object.metadata?.name);
      return { kind: "deliver" };
    },
  });
  const readiness: string[] = [];
  const renewals: number[] = [];
  server.changes$.subscribe({
    next({ resource, object }) {
      if (resource === "leases") renewals.push(scheduler.now());
      if (resource !== "nodes") return;
      const { status } = object as Node;
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      readiness.push(`${Math.round(scheduler.now())} ${ready?.status} ${ready?.message}`);
    },
  });
  const node = createSimNode({
    seed: "one",
    scheduler,
    api: server,
    ...options,
    config: { nodeName: "one", ...options.config },
  });
  const reasons = () =>
    node.trace.lines.filter((line) => line.includes("event   /one")).map((line) => line.split(" ").at(-1));
  return {
    server,
    node,
    toldServices,
    readiness,
    renewals,
    reasons,
    object: () => server.object("nodes", { name: "one" }),
  };
}
const text = (value: Uint8Array): string => new TextDecoder().decode(value);
const READY = "True kubelet is posting ready status";

describe("a node of a cluster", () => {
  it("registers as Ready, with a lease and a CSINode that the Node owns", () => {
    const { server, node, readiness, reasons, object } = cluster();
    node.runFor(1_000);
    const lease = server.object("leases", LEASE);
    expect([readiness, reasons()]).toEqual([
      [`101 ${READY}`],
      ["kubelet.", "pods", "NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID"],
    ]);
    expect(lease?.spec).toMatchObject({ holderIdentity: "one", leaseDurationSeconds: 40 });
    const owners = [{ apiVersion: "v1", kind: "Node", name: "one", uid: object()?.metadata?.uid }];
    expect(lease?.metadata?.ownerReferences).toEqual(owners);
    expect(server.object("csinodes", { name: "one" })).toMatchObject({
      metadata: { ownerReferences: owners },
      spec: { drivers: null },
    });
  });

  it("says on the Node that it has no cluster DNS for its pods", () => {
    const { server, node } = cluster({
      config: { clusterDns: [] },
      images: [simImage("registry.example/app:1")],
      programs: () => runsForever,
    });
    server.put("pods", newPod("web", { nodeName: "one" }));
    node.runFor(MINUTE_MS);
    expect(node.trace.lines.filter((line) => /event   \/one .*MissingClusterDNS/.test(line))).toHaveLength(1);
  });

  it("gives pods the addresses from the cloud controller; containers that refer to them wait until then", () => {
    const { node: settings } = simKubeletConfig(simMachine(), { nodeName: "one" });
    const { server, node } = cluster({
      config: { nodeIps: [], node: { ...settings, hasExternalCloud: true } },
      images: [simImage("registry.example/app:1")],
      programs: () => runsForever,
    });
    server.put("pods", newPod("web", { nodeName: "one", hostNetwork: true }));
    const env = [{ name: "HOST", valueFrom: { fieldRef: { fieldPath: "status.hostIP" } } }];
    server.put("pods", newPod("asking", { nodeName: "one", containers: [{ ...containerOf(), env }] }));
    const statusOf = (name: string) => server.object("pods", { namespace: "default", name })?.status;
    const addresses = () => {
      const { hostIPs, podIP } = statusOf("web") ?? {};
      const [asking] = statusOf("asking")?.containerStatuses ?? [];
      return [hostIPs, podIP, asking?.state?.waiting ?? asking?.ready];
    };
    node.runFor(2 * MINUTE_MS);
    const before = addresses();
    const unknown = "host IP unknown; known addresses: [{Hostname one}]";
    const cloud = [{ type: "InternalIP", address: "198.51.100.7" }];
    const body = { type: "application/merge-patch+json", body: { status: { addresses: cloud } } } as const;
    server.client().patch("nodes", { name: "one" }, body, { subresource: "status" }).subscribe();
    node.runFor(2 * MINUTE_MS);
    expect([before, addresses()]).toEqual([
      [undefined, undefined, { reason: "CreateContainerConfigError", message: unknown }],
      [[{ ip: "198.51.100.7" }], "198.51.100.7", true],
    ]);
  });

  it("reports the statuses of node and pods within ten seconds after a server outage of two minutes", () => {
    const { server, node, readiness } = cluster({
      images: [simImage("registry.example/app:1")],
      programs: () => runsForever,
    });
    server.put("pods", newPod("before", { nodeName: "one" }));
    node.runFor(MINUTE_MS);
    server.setNetwork("refused");
    node.runFor(MINUTE_MS);
    server.put("pods", newPod("meanwhile", { nodeName: "one", hostNetwork: true }));
    node.kill("default/before/main");
    node.runtime.setCondition("NetworkReady", "cni plugin not initialized");
    node.runFor(MINUTE_MS);
    server.setNetwork("up");
    node.runFor(10_000);
    const containers = ["before", "meanwhile"].map(
      (name) => server.object("pods", { namespace: "default", name })?.status?.containerStatuses?.[0],
    );
    expect(containers).toMatchObject([{ restartCount: 1, ready: true }, { ready: true }]);
    expect(readiness.at(-1)).toContain("cni plugin not initialized");
    expect(node.violations).toEqual([]);
  });

  it("renews its lease every ten seconds and reports an unchanged status every five minutes", () => {
    const { node, readiness, renewals } = cluster();
    node.runFor(30 * MINUTE_MS);
    const gaps = renewals.slice(1).map((at, index) => at - (renewals[index] ?? 0));
    expect([Math.min(...gaps) >= 10_000, Math.max(...gaps) <= 10_450]).toEqual([true, true]);
    expect([readiness.length >= 6, readiness.length <= 8]).toEqual([true, true]);
  });

  it("reports within a second that the runtime's network is ready, and at once that it is not", () => {
    const { node, readiness, reasons } = cluster();
    node.runtime.setCondition("NetworkReady", "cni plugin not initialized");
    node.runFor(10_000);
    node.runtime.setCondition("NetworkReady", "");
    node.runFor(1_100);
    expect([readiness.map((line) => line.slice(line.indexOf(" ") + 1)), reasons().at(-1)]).toEqual([
      [
        "False container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized",
        READY,
      ],
      "NodeReady",
    ]);
  });

  it("is Ready for half a minute after its runtime went away, as upstream, and not afterwards", () => {
    const { node, readiness } = cluster();
    node.runFor(5_000);
    node.crashRuntime("stay");
    node.runFor(25_000);
    const soon = readiness.filter((line) => !line.endsWith(READY));
    node.runFor(30_000);
    node.restartRuntime();
    node.runFor(2_000);
    expect([soon, readiness.slice(-2).map((line) => line.slice(line.indexOf(" ") + 1))]).toEqual([
      [],
      ["False container runtime is down", READY],
    ]);
  });

  it("does not become unready by restarts of the kubelet", () => {
    const { node, readiness } = cluster();
    for (let life = 0; life < 20; life += 1) {
      node.runFor(1_000 + life * 37);
      node.crashKubelet();
      node.restartKubelet();
    }
    node.runFor(MINUTE_MS);
    expect(readiness.filter((line) => !line.endsWith(READY))).toEqual([]);
  });

  it("catches up once the server is back", () => {
    const { server, node, renewals, readiness } = cluster();
    node.runFor(5_000);
    server.setNetwork("silent");
    node.runtime.setCondition("NetworkReady", "gone");
    node.runFor(10 * MINUTE_MS);
    const before = [renewals.length, readiness.length];
    server.setNetwork("up");
    node.runFor(18_000);
    expect([before, renewals.length > 1, readiness.at(-1)?.includes("False")]).toEqual([[1, 1], true, true]);
  });

  it("waits for the Node of another client with registerNode false", () => {
    const settings = simKubeletConfig(simMachine(), { nodeName: "one" }).node;
    const { server, node, object } = cluster({ config: { node: { ...settings, register: false } } });
    node.runFor(5_000);
    const none = object();
    server.put("nodes", { metadata: { name: "one" } });
    node.runFor(12_000);
    expect([none, object()?.status?.conditions?.map(({ type, status }) => `${type} ${status}`)]).toEqual([
      undefined,
      ["MemoryPressure False", "DiskPressure False", "PIDPressure False", "Ready True"],
    ]);
  });

  it("corrects an existing Node, and keeps the fields of other clients", () => {
    const { server, node, object, reasons } = cluster();
    // The machine is drawn from the seed: one life of the kubelet tells which it is.
    node.runFor(1_000);
    const machineID = object()?.status?.nodeInfo?.machineID;
    node.crashKubelet();
    server.delete("nodes", { name: "one" });
    server.put("nodes", {
      metadata: { name: "one", labels: { "kubernetes.io/hostname": "other", mine: "yes" } },
      spec: { unschedulable: true },
      status: {
        capacity: { "example.com/gpu": "2", "hugepages-2Mi": "1Gi" },
        conditions: [{ type: "NetworkUnavailable", status: "False" }],
        nodeInfo: { bootID: "before", machineID } as never,
      },
    });
    node.restartKubelet();
    node.runFor(5_000);
    const { metadata, status } = object() ?? {};
    expect(metadata?.labels).toMatchObject({ "kubernetes.io/hostname": "one", mine: "yes" });
    expect([status?.capacity?.["example.com/gpu"], status?.allocatable?.["example.com/gpu"]]).toEqual(["2", "2"]);
    expect([status?.capacity?.["hugepages-2Mi"], status?.conditions?.[0]?.type]).toEqual([
      undefined,
      "NetworkUnavailable",
    ]);
    expect([
      reasons().includes("NodeNotSchedulable"),
      node.trace.lines.some((line) => line.includes("Rebooted")),
    ]).toEqual([true, true]);
  });

  it("gives containers the services that have an address, once they are known", () => {
    const { server, node, toldServices } = cluster({
      images: [simImage("registry.example/app:1")],
      programs: () => runsForever,
    });
    // Objects that exist at the start arrive as a list, not as events.
    node.runFor(1_000);
    const ports = [{ port: 443, protocol: "TCP" }];
    server.put("services", {
      metadata: { name: "kubernetes", namespace: "default" },
      spec: { clusterIP: "10.2.0.1", ports },
    });
    server.put("services", {
      metadata: { name: "headless", namespace: "default" },
      spec: { clusterIP: "None", ports },
    });
    server.put("pods", newPod("web"));
    server.schedule({ namespace: "default", name: "web" }, "one");
    node.runFor(5_000);
    expect(toldServices).toEqual(["kubernetes"]);
    const envs = node.runtime
      .containers()
      .flatMap(({ config }) => config.envs.map(({ key, value }) => [key, text(value)]));
    expect(envs).toContainEqual(["KUBERNETES_SERVICE_HOST", "10.2.0.1"]);
  });

  it("admits by the labels and taints of the Node, not by its own", () => {
    const { server, node } = cluster({ images: [simImage("registry.example/app:1")], programs: () => runsForever });
    node.runFor(1_000);
    server.put("nodes", { metadata: { name: "one", labels: { disk: "ssd" } } });
    for (const [name, disk] of [
      ["fits", "ssd"],
      ["misfits", "tape"],
    ] as const) {
      server.put("pods", newPod(name, { nodeSelector: { disk } }));
      server.schedule({ namespace: "default", name }, "one");
    }
    node.runFor(5_000);
    const phases = node.pods().map(({ metadata, status }) => [metadata.name, status?.phase, status?.reason]);
    expect(phases).toEqual([
      ["fits", "Running", undefined],
      ["misfits", "Failed", "NodeAffinity"],
    ]);
  });

  it("admits by the extended resources of the Node, counts those in use, and counts them after a restart", () => {
    const { server, node } = cluster({ images: [simImage("registry.example/app:1")], programs: () => runsForever });
    const placed = (name: string, resource: string): void => {
      const containers = [containerOf({ resources: { requests: { [resource]: "1" }, limits: { [resource]: "1" } } })];
      server.put("pods", newPod(name, { containers }));
      server.schedule({ namespace: "default", name }, "one");
      node.runFor(5_000);
    };
    const states = () =>
      node.pods().map(({ metadata, status }) => [metadata.name, status?.phase, status?.reason, status?.message]);
    const refusal = (name: string, resource: string, used: number, capacity: number) => [
      name,
      "Failed",
      `OutOf${resource}`,
      `Pod was rejected: Node didn't have enough resource: ${resource}, requested: 1, used: ${used}, capacity: ${capacity}`,
    ];
    node.runFor(1_000);
    const capacity = { "example.com/foo": "1", "example.com/gone": "0" };
    const patch = { type: "application/merge-patch+json", body: { status: { capacity } } } as const;
    server.client().patch("nodes", { name: "one" }, patch, { subresource: "status" }).subscribe();
    // The kubelet says at its next look how much of that pods may have.
    node.runFor(15_000);
    placed("first", "example.com/foo");
    placed("second", "example.com/foo");
    placed("third", "example.com/gone");
    // A resource that the Node does not name belongs to the cluster, like upstream.
    placed("fourth", "example.com/unknown");
    const before = states();
    node.crashKubelet();
    node.restartKubelet();
    node.runFor(5_000);
    placed("fifth", "example.com/foo");
    expect(before).toEqual([
      ["first", "Running", undefined, undefined],
      refusal("second", "example.com/foo", 1, 1),
      refusal("third", "example.com/gone", 0, 0),
      ["fourth", "Running", undefined, undefined],
    ]);
    expect(states().filter(([name]) => name === "first" || name === "fifth")).toEqual([
      ["first", "Running", undefined, undefined],
      refusal("fifth", "example.com/foo", 1, 1),
    ]);
    expect(node.violations).toEqual([]);
  });

  it("follows the addresses of the machine: in the Node, in its pods, and keeps them while no interface is up", () => {
    const { server, node, object } = cluster({
      images: [simImage("registry.example/app:1")],
      programs: () => runsForever,
    });
    const addresses = () => (object()?.status?.addresses ?? []).map(({ type, address }) => `${type} ${address}`);
    const hostIps = () => server.object("pods", { namespace: "default", name: "web" })?.status?.hostIPs;
    server.put("pods", newPod("web"));
    server.schedule({ namespace: "default", name: "web" }, "one");
    node.runFor(5_000);
    const before = [addresses(), hostIps()];
    node.host.setAddresses({ ips: ["192.0.2.99"], interfaceIps: ["127.0.0.1", "192.0.2.99"], nameIps: [] });
    node.runFor(12_000);
    const after = [addresses(), hostIps()];
    node.host.setAddresses({ ips: [], interfaceIps: ["127.0.0.1"], nameIps: [] });
    node.runFor(30_000);
    expect([before, after, [addresses(), hostIps()], node.violations]).toEqual([
      [["InternalIP 192.0.2.10", "Hostname one"], [{ ip: "192.0.2.10" }]],
      [["InternalIP 192.0.2.99", "Hostname one"], [{ ip: "192.0.2.99" }]],
      [["InternalIP 192.0.2.99", "Hostname one"], [{ ip: "192.0.2.99" }]],
      [],
    ]);
  });
});

it("a standalone node gives new pods its current address; a host-network pod keeps its address, like upstream", () => {
  const { node, check } = podNode({ pods: [podOf({ spec: { hostNetwork: true } })] });
  node.runFor(5_000);
  node.host.setAddresses({ ips: ["192.0.2.99"], interfaceIps: ["192.0.2.99"], nameIps: [] });
  node.runFor(12_000);
  const [pod] = node.pods();
  expect([pod?.status?.hostIP, pod?.status?.podIP]).toEqual(["192.0.2.99", "192.0.2.10"]);
  check();
});
