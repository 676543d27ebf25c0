/** The order in which init containers, sidecars and main containers start and end, by the runtime's own timestamps. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode } from "./containerdNode.ts";
import { manifest, script, server } from "./manifests.ts";

describeOnContainerd("init containers and sidecars on containerd", (installation) => {
  const node = containerdNode(installation, {
    config: {
      featureGates: { KubeletCrashLoopBackOffMax: true },
      crashLoopBackOff: { maxContainerRestartPeriod: "1s" },
    },
  });

  const timesOf = async (
    pod: Pod,
    name: string,
  ): Promise<{ readonly startedAt: bigint; readonly finishedAt: bigint }> => {
    const found = (await node.containers(pod.metadata.uid)).filter(({ metadata }) => metadata?.name === name);
    expect(found.length).toBe(1);
    return node.containerStatus(found[0]?.id ?? "");
  };

  it("runs init containers one by one, sidecars from their place on, and the main ones after all", async () => {
    const { daemon } = node;
    await daemon.put(
      "ordered.json",
      manifest("ordered", {
        initContainers: [
          script("first", "sleep 0.2; echo first"),
          server("sidecar", "echo beside", { restartPolicy: "Always" }),
          script("second", "sleep 0.2; echo second"),
        ],
        containers: [server("main")],
      }),
    );
    const initializing = await daemon.until("ordered", ({ status }) => status !== undefined, "known");
    expect(initializing.status?.phase).toBe("Pending");
    const pod = await daemon.until("ordered", ({ status }) => status?.phase === "Running", "Running");
    const states = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].map(
      ({ name, state, started, ready, restartCount }) => ({
        name,
        state: Object.keys(state ?? {}).join(),
        started,
        ready,
        restartCount,
      }),
    );
    expect(states).toEqual([
      { name: "first", state: "terminated", started: false, ready: true, restartCount: 0 },
      { name: "sidecar", state: "running", started: true, ready: true, restartCount: 0 },
      { name: "second", state: "terminated", started: false, ready: true, restartCount: 0 },
      { name: "main", state: "running", started: true, ready: true, restartCount: 0 },
    ]);
    const [first, sidecar, second, main] = [
      await timesOf(pod, "first"),
      await timesOf(pod, "sidecar"),
      await timesOf(pod, "second"),
      await timesOf(pod, "main"),
    ];
    expect(sidecar.startedAt).toBeGreaterThan(first.finishedAt);
    expect(second.startedAt).toBeGreaterThan(sidecar.startedAt);
    expect(main.startedAt).toBeGreaterThan(second.finishedAt);
  });

  it("stops sidecars after the main containers, in reverse order", async () => {
    const { daemon, folder } = node;
    const says = (name: string, more = {}): ReturnType<typeof script> =>
      script(
        name,
        `trap 'sleep 0.2; echo ${name} >>/journal/ends; exit 0' TERM; : >/journal/${name}; while :; do sleep 3600 & wait $!; done`,
        {
          volumeMounts: [{ name: "journal", mountPath: "/journal" }],
          ...more,
        },
      );
    await daemon.put(
      "stopped.json",
      manifest("stopped", {
        terminationGracePeriodSeconds: 10,
        volumes: [{ name: "journal", hostPath: { path: `${folder}/journal`, type: "DirectoryOrCreate" } }],
        initContainers: [says("outer", { restartPolicy: "Always" }), says("inner", { restartPolicy: "Always" })],
        containers: [says("main")],
      }),
    );
    await daemon.until("stopped", ({ status }) => status?.phase === "Running", "Running");
    // A shell that has not set its trap yet would ignore the signal.
    const journal = `${folder}/journal`;
    await waitFor("all traps", async () => (await readdir(journal)).length === 3);
    await daemon.drop("stopped.json");
    await daemon.untilGone("stopped");
    expect(await readFile(`${folder}/journal/ends`, "utf8")).toBe("main\ninner\nouter\n");
  });

  it("repeats a failing init container, back-off and all, and starts nothing after it before it succeeded", async () => {
    const { daemon } = node;
    const gate = await mkdtemp(join(tmpdir(), "rxlet-gate-"));
    const volumeMounts = [
      { name: "state", mountPath: "/state" },
      { name: "gate", mountPath: "/gate" },
    ];
    await daemon.put(
      "repeated.json",
      manifest("repeated", {
        volumes: [
          { name: "state", emptyDir: {} },
          { name: "gate", hostPath: { path: gate } },
        ],
        initContainers: [
          script("setup", "echo x >>/state/tries; [ -e /gate/open ] || exit 5", { volumeMounts }),
          script("next", "cat /state/tries", { volumeMounts }),
        ],
        containers: [server()],
      }),
    );
    const waiting = await daemon.until(
      "repeated",
      ({ status }) => status?.initContainerStatuses?.[0]?.state?.waiting?.reason === "CrashLoopBackOff",
      "waiting for its init container",
    );
    expect(waiting.status?.phase).toBe("Pending");
    // The maximum of this node, which its first delay would exceed.
    expect(waiting.status?.initContainerStatuses?.[0]?.state?.waiting?.message).toMatch(
      /^back-off 1s restarting failed container=setup pod=repeated-test-node_default\(.*\) next-try=\d{4}-/,
    );
    expect(waiting.status?.containerStatuses?.map(({ state: { waiting: why } = {} }) => why)).toEqual([
      { reason: "PodInitializing" },
    ]);
    expect(waiting.status?.conditions?.find(({ type }) => type === "Initialized")).toMatchObject({
      status: "False",
      reason: "ContainersNotInitialized",
      message: "containers with incomplete status: [setup next]",
    });
    await writeFile(join(gate, "open"), "");
    const pod = await daemon.until("repeated", ({ status }) => status?.phase === "Running", "Running");
    const [setup, next] = pod.status?.initContainerStatuses ?? [];
    expect([setup?.restartCount, next?.restartCount]).toEqual([expect.any(Number), 0]);
    expect(await node.output(pod, "next")).toEqual(Array.from({ length: (setup?.restartCount ?? 0) + 1 }, () => "x"));
    await rm(gate, { recursive: true });
  });

  it("fails a pod of restart policy Never whose init container failed, and starts none of its containers", async () => {
    const { daemon } = node;
    const spec = { restartPolicy: "Never", initContainers: [script("setup", "exit 9")], containers: [server()] };
    await daemon.put("unready.json", manifest("unready", spec));
    const pod = await daemon.until("unready", ({ status }) => status?.phase === "Failed", "Failed");
    expect(pod.status?.initContainerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 9, reason: "Error" });
    expect((await node.containers(pod.metadata.uid)).map(({ metadata }) => metadata?.name)).toEqual(["setup"]);
  });

  it("restarts a sidecar that ends, without touching the main container", async () => {
    const { daemon } = node;
    await daemon.put(
      "beside.json",
      manifest("beside", {
        initContainers: [script("sidecar", "sleep 0.2; exit 1", { restartPolicy: "Always" })],
        containers: [server()],
      }),
    );
    const pod = await daemon.until(
      "beside",
      ({ status }) => (status?.initContainerStatuses?.[0]?.restartCount ?? 0) >= 2,
      "with its sidecar restarted",
    );
    expect(pod.status?.containerStatuses?.[0]?.restartCount).toBe(0);
    expect(pod.status?.initContainerStatuses?.[0]?.lastState?.terminated).toMatchObject({ exitCode: 1 });
  });

  it("ends a pod whose main containers are done although its sidecar runs on, and stops the sidecar", async () => {
    const { daemon } = node;
    await daemon.put(
      "done.json",
      manifest("done", {
        restartPolicy: "Never",
        initContainers: [server("sidecar", ":", { restartPolicy: "Always" })],
        containers: [script("main", "sleep 0.2")],
      }),
    );
    const pod = await daemon.until("done", ({ status }) => status?.phase === "Succeeded", "Succeeded");
    const ended = await waitFor("the sidecar to be told as terminated", async () => {
      const state = (await daemon.pod("done"))?.status?.initContainerStatuses?.[0]?.state;
      return state?.terminated;
    });
    expect(ended).toMatchObject({ exitCode: 0, reason: "Completed" });
    expect((await timesOf(pod, "sidecar")).finishedAt).toBeGreaterThan((await timesOf(pod, "main")).finishedAt);
  });
});
