/** Restarts of exited containers under each restart policy, and the backoff of crashing ones. */
import { expect, it } from "vitest";
import type { ApiContainerStatus, Pod } from "../../src/core/api.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode } from "./containerdNode.ts";
import { manifest, script, server } from "./manifests.ts";

const statusOf = (pod: Pod, name = "main"): ApiContainerStatus | undefined =>
  pod.status?.containerStatuses?.find((status) => status.name === name);

/** Exit code and reason of a container that ended. */
const ending = (status: ApiContainerStatus | undefined): unknown => {
  const { exitCode, reason } = status?.state?.terminated ?? {};
  return { exitCode, reason, restarts: status?.restartCount };
};

describeOnContainerd("restart policies on containerd", (installation) => {
  const node = containerdNode(installation, {
    config: {
      featureGates: { KubeletCrashLoopBackOffMax: true },
      crashLoopBackOff: { maxContainerRestartPeriod: "1s" },
    },
  });

  it("ends a pod of restart policy Never as Succeeded, its sandbox stopped, containers and logs kept", async () => {
    const { daemon } = node;
    const containers = [script("main", "echo done"), script("other", "sleep 0.3; echo later")];
    await daemon.put("never.json", manifest("never", { restartPolicy: "Never", containers }));
    const pod = await daemon.until("never", ({ status }) => status?.phase === "Succeeded", "Succeeded");
    expect(["main", "other"].map((name) => ending(statusOf(pod, name)))).toEqual([
      { exitCode: 0, reason: "Completed", restarts: 0 },
      { exitCode: 0, reason: "Completed", restarts: 0 },
    ]);
    const conditions = pod.status?.conditions?.map(({ type, status, reason }) => ({ type, status, reason }));
    expect(conditions).toEqual(
      expect.arrayContaining([
        { type: "Initialized", status: "True", reason: "PodCompleted" },
        { type: "Ready", status: "False", reason: "PodCompleted" },
        { type: "ContainersReady", status: "False", reason: "PodCompleted" },
        { type: "PodScheduled", status: "True", reason: undefined },
      ]),
    );
    await waitFor("its sandbox to be stopped", async () => {
      const states = (await node.sandboxes(pod.metadata.uid)).map(({ state }) => state);
      return states.length === 1 && states[0] === 1;
    });
    expect((await node.containers(pod.metadata.uid)).map(({ metadata }) => metadata?.name).sort()).toEqual([
      "main",
      "other",
    ]);
    expect(await node.output(pod, "main")).toEqual(["done"]);
    expect(await node.output(pod, "other")).toEqual(["later"]);
  });

  it("ends a pod of restart policy Never as Failed when a container failed, also by a signal", async () => {
    const { daemon } = node;
    const containers = [script("main", "exit 42"), script("killed", "kill -9 $$$$"), script("fine", "true")];
    // The first process of a PID namespace cannot kill itself; and two dollars in a command are one.
    const spec = { restartPolicy: "Never", shareProcessNamespace: true, containers };
    await daemon.put("failed.json", manifest("failed", spec));
    const pod = await daemon.until("failed", ({ status }) => status?.phase === "Failed", "Failed");
    expect(["main", "killed", "fine"].map((name) => ending(statusOf(pod, name)))).toEqual([
      { exitCode: 42, reason: "Error", restarts: 0 },
      { exitCode: 137, reason: "Error", restarts: 0 },
      { exitCode: 0, reason: "Completed", restarts: 0 },
    ]);
  });

  it("restarts a failed container of restart policy OnFailure until it succeeds, then the pod is Succeeded", async () => {
    const { daemon } = node;
    const tryThrice = "n=$(cat /state/n 2>/dev/null || echo 0); echo $((n + 1)) >/state/n; echo try $n; [ $n -ge 2 ]";
    await daemon.put(
      "retried.json",
      manifest("retried", {
        restartPolicy: "OnFailure",
        volumes: [{ name: "state", emptyDir: {} }],
        containers: [script("main", tryThrice, { volumeMounts: [{ name: "state", mountPath: "/state" }] })],
      }),
    );
    const pod = await daemon.until("retried", ({ status }) => status?.phase === "Succeeded", "Succeeded");
    expect(ending(statusOf(pod))).toEqual({ exitCode: 0, reason: "Completed", restarts: 2 });
    expect(statusOf(pod)?.lastState?.terminated).toMatchObject({ exitCode: 1, reason: "Error" });
    expect(await node.output(pod, "main", 2)).toEqual(["try 2"]);
  });

  it("restarts a container of restart policy Always whatever its exit code, and keeps its neighbour", async () => {
    const { daemon } = node;
    await daemon.put(
      "always.json",
      manifest("always", { containers: [script("main", "echo again; sleep 0.2; exit 0"), server("steady")] }),
    );
    const pod = await daemon.until("always", (found) => (statusOf(found)?.restartCount ?? 0) >= 2, "restarted twice");
    expect(pod.status?.phase).toBe("Running");
    expect(statusOf(pod)?.lastState?.terminated).toMatchObject({ exitCode: 0, reason: "Completed" });
    expect(statusOf(pod, "steady")?.restartCount).toBe(0);
    expect(statusOf(pod, "steady")?.state?.running).toBeDefined();
  });

  it("holds a crashing container back with CrashLoopBackOff, tells it once per wait, and starts it again", async () => {
    const { daemon } = node;
    await daemon.put("crashing.json", manifest("crashing", { containers: [script("main", "echo up; exit 7")] }));
    const waiting = await daemon.until(
      "crashing",
      (pod) => statusOf(pod)?.state?.waiting?.reason === "CrashLoopBackOff" && (statusOf(pod)?.restartCount ?? 0) >= 2,
      "in CrashLoopBackOff",
    );
    const { uid } = waiting.metadata;
    const name = `crashing-test-node_default(${uid})`;
    expect(statusOf(waiting)?.state?.waiting?.message).toMatch(
      new RegExp(
        `^back-off \\S+ restarting failed container=main pod=${name.replace(/[()]/g, "\\$&")} next-try=\\S+Z$`,
      ),
    );
    expect(statusOf(waiting)?.lastState?.terminated).toMatchObject({ exitCode: 7, reason: "Error" });
    const restarts = statusOf(waiting)?.restartCount ?? 0;
    const later = await daemon.until(
      "crashing",
      (pod) => (statusOf(pod)?.restartCount ?? 0) >= restarts + 2,
      "restarted",
    );
    expect(later.status?.phase).toBe("Running");
    const events = (await daemon.events("crashing")).filter(({ reason }) => reason === "BackOff");
    expect(events[0]).toEqual({
      type: "Warning",
      reason: "BackOff",
      message: `Back-off restarting failed container main in pod ${name}`,
      fieldPath: "spec.containers{main}",
    });
    // At most one event per wait, or the log would grow with every look at the pod. The count is read after the events,
    // because the container goes on restarting.
    const now = (await daemon.pod("crashing")) as Pod;
    expect(events.length).toBeLessThanOrEqual((statusOf(now)?.restartCount ?? 0) + 1);
    // Only the newest dead attempt of each container name is kept.
    expect((await node.containers(uid)).length).toBeLessThanOrEqual(3);
  });
});
