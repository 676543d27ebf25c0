/** A node joins a cluster and runs what the cluster gives it: what control plane and kubectl see, from start to end. */
import { expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { ContainerState } from "../../src/gen/cri.ts";
import { cpuQuotaUs, podCgroupOf } from "../support/kernelState.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { NODE_NAME } from "../support/daemon.ts";
import { BUSYBOX_IMAGE, busyboxImage } from "../support/images.ts";
import { clusterNode, hasCondition, isReady } from "./clusterNode.ts";
import { script, server as serving } from "./manifests.ts";

describeOnContainerd("a node of a cluster on containerd", (installation) => {
  const cluster = clusterNode(installation);
  const eventsOf = (name: string): readonly string[] =>
    cluster.server.sim
      .objects("events")
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ reason }) => reason ?? "");

  it("registers itself and turns Ready, with a lease and a CSINode that it owns", async () => {
    const node = await cluster.until("the node to be Ready", () => {
      const found = cluster.server.sim.object("nodes", { name: NODE_NAME });
      return found !== undefined && hasCondition(found, "Ready") ? found : undefined;
    });
    const lease = await cluster.until("its lease", () =>
      cluster.server.sim.object("leases", { namespace: "kube-node-lease", name: NODE_NAME }),
    );
    const csiNode = await cluster.until("its CSINode", () =>
      cluster.server.sim.object("csinodes", { name: NODE_NAME }),
    );
    expect(node.status?.nodeInfo?.containerRuntimeVersion).toMatch(/^containerd:\/\//);
    expect(Object.keys(node.status?.allocatable ?? {})).toEqual(expect.arrayContaining(["cpu", "memory", "pods"]));
    expect([lease.spec?.holderIdentity, lease.metadata?.ownerReferences?.map(({ uid }) => uid)]).toEqual([
      NODE_NAME,
      [node.metadata?.uid],
    ]);
    expect(csiNode.metadata?.ownerReferences?.map(({ uid }) => uid)).toEqual([node.metadata?.uid]);
  });

  it("says that it has started and that pods are held to what it has for them", async () => {
    const wanted = ["Starting", "NodeAllocatableEnforced"];
    await cluster.until("both events", () => wanted.every((reason) => eventsOf(NODE_NAME).includes(reason)));
  });

  it("reports a volume whose CSI driver is not registered", async () => {
    const { sim } = cluster.server;
    sim.put("csidrivers", { metadata: { name: "d.example" }, spec: { volumeLifecycleModes: ["Ephemeral"] } });
    const volumes = [{ name: "disk", csi: { driver: "d.example" } }];
    const volumeMounts = [{ name: "disk", mountPath: "/disk" }];
    cluster.bind("on-csi", { volumes, containers: [serving("main", "echo here", { volumeMounts })] });
    const reported = await cluster.until("the event", () =>
      sim
        .objects("events")
        .find(({ involvedObject, reason }) => involvedObject.name === "on-csi" && reason === "FailedMount"),
    );
    expect(reported.message).toMatch(/driver name d\.example not found in the list of registered CSI drivers$/);
    sim.delete("pods", { namespace: "default", name: "on-csi" });
    await cluster.untilGone("on-csi");
  });

  it("runs 30 pods that are bound to it, tells what they are, and ends them when they are deleted", async () => {
    const names = Array.from({ length: 30 }, (_, index) => `bound-${index}`);
    for (const name of names) cluster.bind(name, { containers: [serving()] });
    for (const name of names) {
      const { metadata, spec, status } = await cluster.untilTold(name, isReady, "Ready");
      const [container] = status?.containerStatuses ?? [];
      expect([spec.nodeName, status?.podIP, status?.qosClass, container]).toEqual([
        NODE_NAME,
        expect.stringMatching(/^10\./),
        "BestEffort",
        expect.objectContaining({ name: "main", ready: true, started: true, restartCount: 0, image: BUSYBOX_IMAGE }),
      ]);
      const live = (await cluster.node.containers(metadata.uid)).map(({ id }) => `containerd://${id}`);
      expect(live).toEqual([container?.containerID]);
    }
    await cluster.until("their events", () =>
      names.every((name) => ["Pulled", "Created", "Started"].every((reason) => eventsOf(name).includes(reason))),
    );
    const removedBefore: string[] = [];
    const watch = cluster.server.sim.changes$.subscribe(({ resource, type, object, previous }) => {
      const { phase } = (previous as Pod | undefined)?.status ?? {};
      if (resource === "pods" && type === "DELETED" && phase === "Running") removedBefore.push(object.metadata.name);
    });
    for (const name of names) cluster.server.sim.delete("pods", { namespace: "default", name });
    for (const name of names) await cluster.untilGone(name);
    watch.unsubscribe();
    expect(removedBefore).toEqual([]);
    expect((await cluster.node.containers()).filter(({ state }) => state === ContainerState.CONTAINER_RUNNING)).toEqual(
      [],
    );
    const refused = (await cluster.node.daemon.metrics())
      .split("\n")
      .filter((line) => /^rest_client_requests_total\{code="4(0[13]|22)"/.test(line));
    expect(refused).toEqual([]);
  });

  it("gives containers what ConfigMap and Secret say, once both are there", async () => {
    cluster.bind("configured", {
      containers: [
        script("main", 'echo "$GREETING $TOKEN"; sleep 600', {
          envFrom: [{ configMapRef: { name: "words" } }],
          env: [{ name: "TOKEN", valueFrom: { secretKeyRef: { name: "keys", key: "token" } } }],
        }),
      ],
    });
    await cluster.untilTold(
      "configured",
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === "CreateContainerConfigError",
      "that its ConfigMap is missing",
    );
    cluster.server.sim.put("configmaps", {
      metadata: { namespace: "default", name: "words" },
      data: { GREETING: "hello" },
    });
    cluster.server.sim.put("secrets", {
      metadata: { namespace: "default", name: "keys" },
      data: { token: btoa("sesame") },
    });
    const pod = await cluster.untilTold("configured", isReady, "Ready");
    expect(await cluster.node.untilOutput(pod, "main", /sesame/)).toEqual(["hello sesame"]);
  });

  it("tells containers of the services of their namespace, unless they want none but the API server's", async () => {
    const service = (name: string, namespace: string, clusterIP: string, port: number) =>
      cluster.server.sim.put("services", { metadata: { namespace, name }, spec: { clusterIP, ports: [{ port }] } });
    service("kubernetes", "default", "10.96.0.1", 443);
    service("shop-front", "default", "10.96.0.7", 8080);
    service("headless", "default", "None", 80);
    cluster.server.sim.put("namespaces", { metadata: { name: "elsewhere" } });
    service("foreign", "elsewhere", "10.96.0.8", 80);
    const print = script("main", "env | grep _SERVICE_ | sort; echo end; exec sleep 600");
    await cluster.until("the services to be known", () =>
      cluster.server.requests.some((line) => line.startsWith("GET /api/v1/services")),
    );
    cluster.bind("linked", { containers: [print] });
    cluster.bind("unlinked", { enableServiceLinks: false, containers: [print] });
    const kubernetes = ["KUBERNETES_SERVICE_HOST=10.96.0.1", "KUBERNETES_SERVICE_PORT=443"];
    const linked = await cluster.untilTold("linked", isReady, "Ready");
    expect(await cluster.node.untilOutput(linked, "main", "end")).toEqual([
      ...kubernetes,
      "SHOP_FRONT_SERVICE_HOST=10.96.0.7",
      "SHOP_FRONT_SERVICE_PORT=8080",
      "end",
    ]);
    const unlinked = await cluster.untilTold("unlinked", isReady, "Ready");
    expect(await cluster.node.untilOutput(unlinked, "main", "end")).toEqual([...kubernetes, "end"]);
  });

  it("resizes a container in place, and starts an ephemeral one beside it", async () => {
    const resources = (cpu: string) => ({ requests: { cpu, memory: "32Mi" }, limits: { cpu, memory: "32Mi" } });
    cluster.bind("sized", { containers: [serving("main", ":", { resources: resources("100m") })] });
    const first = await cluster.untilTold("sized", isReady, "Ready");
    const ref = { namespace: "default", name: "sized" };
    const reported = cluster.reported("sized") ?? first;
    const containers = reported.spec.containers.map((each) => ({ ...each, resources: resources("200m") }));
    cluster.server.sim.resize(ref, { ...reported.spec, containers });
    const second = await cluster.untilTold(
      "sized",
      ({ status }) => status?.containerStatuses?.[0]?.resources?.limits?.["cpu"] === "200m",
      "at its new size",
    );
    const [container] = second.status?.containerStatuses ?? [];
    expect([container?.containerID, container?.restartCount, container?.allocatedResources]).toEqual([
      first.status?.containerStatuses?.[0]?.containerID,
      0,
      { cpu: "200m", memory: "32Mi" },
    ]);
    const [live] = await cluster.node.containers(first.metadata.uid);
    const cgroup = podCgroupOf(cluster.node.containerd.cgroupParent, second);
    expect([cpuQuotaUs(cgroup), cpuQuotaUs(`${cgroup}/${live?.id}`)]).toEqual([20_000, 20_000]);
    await cluster.until("the events of the resize", () =>
      ["ResizeStarted", "ResizeCompleted"].every((reason) => eventsOf("sized").includes(reason)),
    );
    cluster.server.sim.debug(ref, script("look", "echo looking; sleep 600"));
    const third = await cluster.untilTold(
      "sized",
      ({ status }) => status?.ephemeralContainerStatuses?.[0]?.state?.running !== undefined,
      "with an ephemeral container",
    );
    expect(await cluster.node.untilOutput(third, "look", "looking")).toEqual(["looking"]);
    expect(third.status?.containerStatuses?.[0]?.restartCount).toBe(0);
  });

  it("restarts a container whose image changed, and lets it run when a label changed", async () => {
    const other = "rxlet.test/busybox:2";
    await cluster.node.containerd.importImage(await busyboxImage(other));
    cluster.bind("edited", { containers: [serving()] });
    const first = await cluster.untilTold("edited", isReady, "Ready");
    const metadata = { namespace: "default", name: "edited" };
    cluster.server.sim.put("pods", { metadata: { ...metadata, labels: { tier: "web" } } });
    const containers = first.spec.containers.map((container) => ({ ...container, image: other }));
    cluster.server.sim.put("pods", { metadata, spec: { containers } });
    const second = await cluster.untilTold(
      "edited",
      (pod) => isReady(pod) && pod.status?.containerStatuses?.[0]?.image === other,
      "on the other image",
    );
    expect([second.metadata.labels, second.metadata.uid, second.status?.containerStatuses?.[0]?.restartCount]).toEqual([
      { tier: "web" },
      first.metadata.uid,
      1,
    ]);
  });
});
