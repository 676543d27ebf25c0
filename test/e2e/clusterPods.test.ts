/** Requests for running pods through the API server: resizes (deferred, granted, infeasible), ephemeral containers, early deletion. */
import { expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { parseQuantity, quantityMilli } from "../../src/core/quantity.ts";
import { cpuQuotaUs, podCgroupOf } from "../support/kernelState.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { NODE_NAME } from "../support/daemon.ts";
import { clusterNode, isReady } from "./clusterNode.ts";
import { script, server } from "./manifests.ts";

const refOf = (name: string) => ({ namespace: "default", name });
const sizeOf = (cpu: string, memory = "32Mi") => ({ requests: { cpu, memory }, limits: { cpu, memory } });
const mainOf = ({ status }: Pod) => status?.containerStatuses?.[0];
const pendingOf = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === "PodResizePending");

describeOnContainerd("pods of a cluster on containerd", (installation) => {
  const cluster = clusterNode(installation);
  const allocatable = async () => {
    const node = await cluster.until("the node to be told", () =>
      cluster.server.sim.object("nodes", { name: NODE_NAME }),
    );
    return (node.status?.allocatable ?? {}) as Readonly<Record<string, string>>;
  };
  const milli = (text = ""): number => {
    const quantity = parseQuantity(text);
    return quantity === undefined ? Number.NaN : Number(quantityMilli(quantity));
  };
  const resize = (name: string, resources: ReturnType<typeof sizeOf>): void => {
    const { spec } = cluster.reported(name) as Pod;
    const containers = spec.containers.map((each) => ({ ...each, resources }));
    cluster.server.sim.resize(refOf(name), { ...spec, containers });
  };

  it("wait for a size until another pod frees its resources", async () => {
    const all = milli((await allocatable())["cpu"]);
    const half = Math.floor(all / 2);
    const sized = (cpu: string) => ({ containers: [server("main", ":", { resources: sizeOf(cpu) })] });
    cluster.bind("other", sized(`${half}m`));
    cluster.bind("growing", sized("100m"));
    await cluster.untilTold("other", isReady, "Ready");
    const before = await cluster.untilTold("growing", isReady, "Ready");

    resize("growing", sizeOf(`${half + 200}m`));
    const later = await cluster.untilTold("growing", (pod) => pendingOf(pod)?.reason === "Deferred", "deferred");
    expect([pendingOf(later)?.message, mainOf(later)?.allocatedResources?.["cpu"]]).toEqual([
      `Node didn't have enough resource: cpu, requested: ${half + 200}, used: ${half}, capacity: ${all}`,
      "100m",
    ]);
    cluster.server.sim.delete("pods", refOf("other"), { gracePeriodSeconds: 1 });
    const grown = await cluster.untilTold(
      "growing",
      (pod) => milli(mainOf(pod)?.resources?.limits?.["cpu"]) === half + 200,
      "grown",
    );
    const settled = await cluster.untilTold("growing", (pod) => pendingOf(pod) === undefined, "settled");
    expect([mainOf(grown)?.containerID, settled.status?.containerStatuses?.[0]?.restartCount]).toEqual([
      mainOf(before)?.containerID,
      0,
    ]);
    const [container] = await cluster.node.containers(settled.metadata.uid);
    const cgroup = podCgroupOf(cluster.node.containerd.cgroupParent, settled);
    expect(cpuQuotaUs(`${cgroup}/${container?.id}`)).toBe((half + 200) * 100);
  });

  it("wait for the resources of a pod that is deleted by force, and start when it has stopped", async () => {
    const all = milli((await allocatable())["cpu"]);
    const sized = { resources: { requests: { cpu: `${all - 100}m` } } };
    const deaf = { ...script("main", "trap '' TERM; while :; do sleep 0.1; done"), ...sized };
    cluster.bind("leaving", { terminationGracePeriodSeconds: 3, containers: [deaf] });
    const leaving = await cluster.untilTold("leaving", isReady, "Ready");

    cluster.server.sim.delete("pods", refOf("leaving"), { gracePeriodSeconds: 0 });
    cluster.bind("coming", { containers: [server("main", ":", sized)] });
    const waiting = await cluster.untilTold("coming", (pod) => mainOf(pod)?.state?.waiting !== undefined, "waiting");
    const { reason, message } = mainOf(waiting)?.state?.waiting ?? {};
    expect([waiting.status?.phase, reason, message]).toEqual([
      "Pending",
      "WaitingForResources",
      expect.stringMatching(/^Waiting for pods to terminate: default\/leaving; rejected at /),
    ]);
    await cluster.untilTold("coming", isReady, "Ready");
    await cluster.until("the other to be removed", async () => {
      return (await cluster.node.containers(leaving.metadata.uid)).length === 0;
    });
  });

  it("restart a container on resize of a resource whose policy requires it, and resize others in place", async () => {
    const resizePolicy = [{ resourceName: "memory", restartPolicy: "RestartContainer" }];
    const main = server("main", ":", { resizePolicy, resources: sizeOf("100m") });
    cluster.bind("policed", { containers: [main] });
    await cluster.untilTold("policed", isReady, "Ready");
    resize("policed", sizeOf("150m"));
    const faster = await cluster.untilTold(
      "policed",
      (pod) => mainOf(pod)?.resources?.limits?.["cpu"] === "150m",
      "faster",
    );
    expect(mainOf(faster)?.restartCount).toBe(0);
    resize("policed", sizeOf("150m", "48Mi"));
    const larger = await cluster.untilTold(
      "policed",
      (pod) => isReady(pod) && mainOf(pod)?.restartCount === 1,
      "started anew",
    );
    const config = await cluster.node.containerConfig(mainOf(larger)?.containerID?.replace("containerd://", "") ?? "");
    expect(config.linux?.resources).toMatchObject({ cpu_quota: 15_000, memory_limit_in_bytes: 48 * 1024 ** 2 });
  });

  it("share the target's processes with an ephemeral container, without a restart", async () => {
    cluster.bind("watched", { containers: [script("main", "exec sleep 4321"), server("beside")] });
    const before = await cluster.untilTold("watched", isReady, "Ready");
    const look = "until ps -o args | grep -q '^sleep 4321'; do sleep 0.1; done; ps -o args | head -n 2 | tail -n 1";
    const debug = { ...script("look", look), targetContainerName: "main" };
    cluster.server.sim.debug(refOf("watched"), debug);
    const after = await cluster.untilTold(
      "watched",
      ({ status }) => status?.ephemeralContainerStatuses?.[0]?.state?.terminated !== undefined,
      "looked into",
    );
    expect(await cluster.node.output(after, "look")).toEqual(["sleep 4321"]);
    expect(
      after.status?.containerStatuses?.map(({ containerID, restartCount }) => [containerID, restartCount]),
    ).toEqual(before.status?.containerStatuses?.map(({ containerID }) => [containerID, 0]));
  });

  it("end as soon as their deletion says, also when it says so while they are ending already", async () => {
    const deaf = script("main", "trap 'echo asked' TERM; echo up; while :; do sleep 0.1; done");
    const names = ["short", "shortened"];
    for (const name of names) cluster.bind(name, { terminationGracePeriodSeconds: 300, containers: [deaf] });
    const pods = await Promise.all(names.map((name) => cluster.untilTold(name, isReady, "Ready")));
    for (const pod of pods) await cluster.node.untilOutput(pod, "main", "up");
    const [, shortened] = pods;
    cluster.server.sim.delete("pods", refOf("shortened"), {});
    cluster.server.sim.delete("pods", refOf("short"), { gracePeriodSeconds: 1 });
    await cluster.node.untilOutput(shortened as Pod, "main", "asked");
    cluster.server.sim.delete("pods", refOf("shortened"), { gracePeriodSeconds: 1 });
    for (const name of names) await cluster.untilGone(name);
  });

  it("know the node's resources as the limits of a container that has none", async () => {
    const limit = (name: string, resource: string, divisor: string) => ({
      name,
      valueFrom: { resourceFieldRef: { resource, divisor } },
    });
    const env = [limit("CPU", "limits.cpu", "1m"), limit("MEMORY", "limits.memory", "1Ki")];
    cluster.bind("unlimited", { containers: [server("main", 'echo "$CPU $MEMORY"; echo end', { env })] });
    const pod = await cluster.untilTold("unlimited", isReady, "Ready");
    const { cpu, memory } = await allocatable();
    const lines = await cluster.node.untilOutput(pod, "main", "end");
    expect(lines).toEqual([`${milli(cpu)} ${Math.ceil(milli(memory) / 1000 / 1024)}`, "end"]);
  });
});
