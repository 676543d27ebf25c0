/** A node that loses its power and boots without its API server: the same pods on the same volumes, and no second ones. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { isRestored } from "../../src/core/pod/restoredMark.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { isAlive, kill, processesInCgroup, unmountBelow } from "../support/kernelState.ts";
import { waitFor } from "../support/waitFor.ts";
import { clusterNode, isReady } from "./clusterNode.ts";
import { script, UNTIL_TERM } from "./manifests.ts";

const PASSWORD = "correct horse battery staple";
const KEPT_RECORDS = 8;
const ref = (name: string) => ({ namespace: "default", name });
const readOnly = (name: string, mountPath: string) => ({ name, mountPath, readOnly: true });

const restartsOf = ({ status }: Pod): number | undefined => status?.containerStatuses?.[0]?.restartCount;

/** Adds a line to its volume at each start, from all that it needs of the cluster. */
const needy: Partial<Pod["spec"]> = {
  serviceAccountName: "robot",
  containers: [
    script(
      "main",
      `echo "$COLOR $(cat /login/password) $(head -c 3 /token/token)" >> /data/starts; cat /data/starts; echo up; ${UNTIL_TERM}`,
      {
        env: [{ name: "COLOR", valueFrom: { configMapKeyRef: { name: "settings", key: "color" } } }],
        volumeMounts: [{ name: "data", mountPath: "/data" }, readOnly("login", "/login"), readOnly("token", "/token")],
      },
    ),
  ],
  volumes: [
    { name: "data", emptyDir: {} },
    { name: "login", secret: { secretName: "login" } },
    {
      name: "token",
      projected: { sources: [{ serviceAccountToken: { path: "token", expirationSeconds: 7_200 } }] },
    },
  ],
};

describeOnContainerd("a power cut, and a boot without the API server", (installation) => {
  const cluster = clusterNode(installation, { args: ["--offline-boot", "--offline-boot-wait", "1s"] });
  const local = async (name: string): Promise<Pod | undefined> =>
    (await cluster.node.daemon.pods()).find(({ metadata }) => metadata.name === name);

  /** Ends the daemon, containerd and all processes of pods at once, and takes away the mounts of volumes. */
  const cutPower = async (): Promise<void> => {
    const { node } = cluster;
    await node.daemon.kill("SIGKILL");
    const { containerd } = node;
    await containerd.killDaemon("SIGKILL");
    const processes = [...containerd.shims(), ...processesInCgroup(containerd.cgroupParent)];
    for (const pid of processes) kill(pid);
    await waitFor("all processes of pods to end", () => !processes.some(isAlive));
    unmountBelow(join(node.folder, "kubelet"));
  };

  it("run the same pods on the same volumes, and go on with them when the server is back", async () => {
    const { node, server: api } = cluster;
    api.sim.put("serviceaccounts", { metadata: ref("robot") });
    api.sim.put("configmaps", { metadata: ref("settings"), data: { color: "blue" } });
    api.sim.put("secrets", { metadata: ref("login"), data: { password: btoa(PASSWORD) } });
    cluster.bind("kept", needy);
    cluster.bind("ended", { restartPolicy: "Never", containers: [script("main", "echo once")] });
    cluster.bind("leaving", { containers: [script("main", UNTIL_TERM)] });
    const before = await cluster.untilTold("kept", isReady, "Ready");
    await cluster.untilTold("leaving", isReady, "Ready");
    const ended = await cluster.untilTold("ended", ({ status }) => status?.phase === "Succeeded", "Succeeded");
    await cluster.until("the records to be kept", async () => {
      return (await node.daemon.metric("rxlet_offline_records")) === KEPT_RECORDS;
    });
    const lines = await node.untilOutput(before, "main", "up");
    expect(lines).toEqual([`blue ${PASSWORD} ${lines[0]?.slice(-3)}`, "up"]);

    await api.network.refuse();
    await cutPower();
    api.sim.delete("pods", ref("leaving"), { gracePeriodSeconds: 0 });
    await node.containerd.startDaemon();
    await node.daemon.restart();
    const restored = await cluster.until("the pod to be restored", async () => {
      const pod = await local("kept");
      // Until its first inspection the pod has the status from disk.
      return pod !== undefined && isReady(pod) && restartsOf(pod) === 1 ? pod : undefined;
    });
    expect([restored.metadata.uid, isRestored(restored)]).toEqual([before.metadata.uid, true]);
    expect(await node.untilOutput(restored, "main", "up", 1)).toEqual([lines[0], lines[0], "up"]);
    expect((await local("ended"))?.status?.phase).toBe("Succeeded");
    expect((await node.containers(ended.metadata.uid)).map(({ metadata }) => metadata?.attempt)).toEqual([0]);
    expect(await node.daemon.metric("rxlet_offline_restored_pods")).toBe(3);

    const offline = join(node.folder, "kubelet", "offline");
    const records = await readdir(join(offline, "records"));
    const contents = await Promise.all(records.map((name) => readFile(join(offline, "records", name), "utf8")));
    expect(contents.filter((content) => content.includes(PASSWORD) || content.includes("blue"))).toEqual([]);
    const modes = [join(offline, "key"), ...records.map((name) => join(offline, "records", name))];
    expect(new Set(await Promise.all(modes.map(async (path) => (await stat(path)).mode & 0o777)))).toEqual(
      new Set([0o600]),
    );

    const [container] = (await node.containers(before.metadata.uid)).filter(({ metadata }) => metadata?.attempt === 1);
    await api.network.accept();
    const confirmed = await cluster.untilTold("kept", (pod) => isReady(pod) && restartsOf(pod) === 1, "restarted once");
    await cluster.until("the mark to go", async () => {
      const pod = await local("kept");
      return pod !== undefined && !isRestored(pod);
    });
    await cluster.until("the pod that was deleted meanwhile to be removed", async () => {
      return (await local("leaving")) === undefined;
    });
    expect(confirmed.status?.containerStatuses?.[0]?.containerID).toBe(`containerd://${container?.id}`);
    expect(await node.daemon.metric("rxlet_offline_restored_pods")).toBe(0);
    const running = await node.containers(before.metadata.uid);
    expect(running.map(({ metadata }) => metadata?.attempt).sort()).toEqual([0, 1]);
  }, 300_000);
});
