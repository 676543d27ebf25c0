/** The daemon killed and started again: what ran is taken over as it is, and what changed meanwhile is made up for. */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode, NO_TRACES, waitForTraces } from "./containerdNode.ts";
import { manifest, script, server } from "./manifests.ts";

/** Housekeeping removes unused resources every 30 s. */
const SWEEP_MS = 45_000;

describeOnContainerd("restarts of the daemon on containerd", (installation) => {
  const node = containerdNode(installation, {
    config: {
      featureGates: { KubeletCrashLoopBackOffMax: true },
      crashLoopBackOff: { maxContainerRestartPeriod: "1s" },
    },
  });
  const running = (name: string): Promise<Pod> =>
    node.daemon.until(name, ({ status }) => status?.phase === "Running", "Running");
  const hasItsParts = async ({ metadata, status }: Pod): Promise<boolean> => {
    const live = (await node.containers(metadata.uid)).filter(({ state }) => state === 1);
    const ready = (await node.sandboxes(metadata.uid)).filter(({ state }) => state === 0);
    const reported = status?.containerStatuses?.[0]?.containerID;
    return live.length === 1 && `containerd://${live[0]?.id}` === reported && ready.length === 1;
  };

  it("takes over what runs, with its ids and restart counts, each time it is killed", async () => {
    const { daemon } = node;
    const names = ["steady-0", "steady-1", "steady-2"];
    for (const name of names)
      await daemon.put(`${name}.json`, manifest(name, { containers: [server(), server("other")] }));
    const state = { volumeMounts: [{ name: "state", mountPath: "/state" }] };
    await daemon.put(
      "tried.json",
      manifest("tried", {
        volumes: [{ name: "state", emptyDir: {} }],
        initContainers: [script("setup", "true")],
        containers: [server("main", "echo x >>/state/n; [ $(wc -l </state/n) -ge 3 ] || exit 3", state)],
      }),
    );
    await daemon.put("done.json", manifest("done", { restartPolicy: "Never", containers: [script("main", "true")] }));
    for (const name of names) await running(name);
    await daemon.until("done", ({ status }) => status?.phase === "Succeeded", "Succeeded");
    await daemon.until(
      "tried",
      ({ status }) => status?.containerStatuses?.[0]?.restartCount === 2 && status.phase === "Running",
      "restarted twice",
    );
    const pods = async (): Promise<readonly unknown[]> =>
      [...(await daemon.pods())]
        .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
        .map(({ metadata, status }) => ({ name: metadata.name, uid: metadata.uid, ...settled(status) }));
    await waitFor(
      "its first attempt, and the cgroup of the pod that is done, to be removed",
      async () => {
        const attempts = (await node.containers()).flatMap(({ metadata }) =>
          metadata?.name === "main" ? [metadata.attempt] : [],
        );
        const { logLinks, cgroups } = await node.traces();
        const linked = logLinks.filter((link) => link.startsWith("tried-test-node_default_main"));
        const isDown = attempts.includes(2) && attempts.filter((attempt) => attempt > 0).length === 2;
        return isDown && attempts.length === 6 && linked.length === 2 && cgroups.length === names.length + 1;
      },
      SWEEP_MS,
    );
    const before = { pods: await pods(), traces: await node.traces() };
    for (let round = 0; round < 3; round += 1) {
      await daemon.kill();
      await daemon.restart();
      await waitFor(
        "the pods to be told as before",
        async () => JSON.stringify(await pods()) === JSON.stringify(before.pods),
      ).catch(async () => expect(await pods()).toEqual(before.pods));
      await waitFor(
        "its traces to be as before",
        async () => JSON.stringify(await node.traces()) === JSON.stringify(before.traces),
      ).catch(async () => expect(await node.traces()).toEqual(before.traces));
    }
  });

  it("ends up with one sandbox and one container per pod when it is killed in the middle of creating them", async () => {
    const { daemon } = node;
    const names = Array.from({ length: 8 }, (_, index) => `burst-${index}`);
    for (const name of names) await daemon.put(`${name}.json`, manifest(name, { containers: [server()] }));
    for (const wanted of [1, 4]) {
      await waitFor("some of the burst to be there", async () => (await node.sandboxes()).length >= wanted);
      await daemon.kill();
      await daemon.restart();
    }
    for (const name of names) await running(name);
    // A container the runtime was starting when its caller was killed may end once more.
    const pods = await waitFor(
      "each pod to have one sandbox, and one container that runs",
      async () => {
        const reported = (await daemon.pods()).filter(({ metadata }) =>
          names.some((name) => metadata.name.startsWith(name)),
        );
        const isWhole = await Promise.all(reported.map(hasItsParts));
        return reported.length === names.length && isWhole.every(Boolean) ? reported : undefined;
      },
      SWEEP_MS,
    );
    const { logLinks } = await node.traces();
    const wanted = pods.map(({ metadata, status }) => {
      const id = status?.containerStatuses?.[0]?.containerID?.replace("containerd://", "");
      return `${metadata.name}_default_main-${id}.log`;
    });
    expect(logLinks).toEqual(expect.arrayContaining(wanted));
  });

  it("removes what it was just making when the manifests are gone once it is back", async () => {
    const { daemon } = node;
    const names = Array.from({ length: 6 }, (_, index) => `brief-${index}`);
    for (const name of names) await daemon.put(`${name}.json`, manifest(name, { containers: [server()] }));
    await waitFor("its making to have begun", async () => (await node.sandboxes()).length > 0);
    await daemon.kill();
    await daemon.dropAll();
    await daemon.restart();
    await waitForTraces(node.traces, NO_TRACES);
  });

  it("follows what happened to manifests and containers while it was down", async () => {
    const { daemon, folder } = node;
    await mkdir(join(folder, "journal"));
    const journal = { volumeMounts: [{ name: "journal", mountPath: "/journal" }] };
    const edited = (word: string): unknown =>
      manifest("edited", {
        volumes: [{ name: "journal", hostPath: { path: join(folder, "journal") } }],
        containers: [
          script(
            "main",
            `echo ${word} starts >>/journal/lines; trap 'sleep 0.2; echo ${word} ends >>/journal/lines; exit 0' TERM
             while :; do sleep 3600 & wait $!; done`,
            journal,
          ),
        ],
      });
    await daemon.put("kept.json", manifest("kept", { containers: [server()] }));
    await daemon.put("dropped.json", manifest("dropped", { containers: [server()] }));
    await daemon.put(
      "exits.json",
      manifest("exits", { containers: [server("main", "[ -e /tmp/x ] || touch /tmp/x")] }),
    );
    await daemon.put("edited.json", edited("first"));
    const [kept, dropped, exits, first] = [
      await running("kept"),
      await running("dropped"),
      await running("exits"),
      await running("edited"),
    ];
    await waitFor("the first to start", async () => (await readFile(join(folder, "journal", "lines"), "utf8")) !== "");
    await daemon.kill();
    await daemon.drop("dropped.json");
    await daemon.put("edited.json", edited("second"));
    await daemon.put("added.json", manifest("added", { containers: [server()] }));
    const [exiting] = await node.containers(exits.metadata.uid);
    await node.stopContainer(exiting?.id ?? "");
    await daemon.restart();
    await running("added");
    const second = await daemon.until(
      "edited",
      ({ metadata, status }) => metadata.uid !== first.metadata.uid && status?.phase === "Running",
      "Running as a new pod",
    );
    const restarted = await daemon.until(
      "exits",
      ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1 && status.containerStatuses[0].ready,
      "restarted",
    );
    expect(restarted.status?.containerStatuses?.[0]?.lastState?.terminated).toMatchObject({ exitCode: 0 });
    expect((await running("kept")).status?.containerStatuses).toEqual(kept.status?.containerStatuses);
    await waitFor("the pods that went to be removed", async () => {
      const { podDirs } = await node.traces();
      return ![dropped, first].some(({ metadata }) => podDirs.includes(metadata.uid));
    });
    await daemon.drop("edited.json");
    await daemon.untilGone("edited");
    expect((await readFile(join(folder, "journal", "lines"), "utf8")).trimEnd().split("\n")).toEqual([
      "first starts",
      "first ends",
      "second starts",
      "second ends",
    ]);
    expect(second.status?.containerStatuses?.[0]?.restartCount).toBe(0);
  });

  it("leaves the pods running on SIGTERM", async () => {
    const { daemon } = node;
    await daemon.put("outlives.json", manifest("outlives", { containers: [server()] }));
    const before = await running("outlives");
    await daemon.kill("SIGTERM");
    expect((await node.containers(before.metadata.uid)).map(({ state }) => state)).toEqual([1]);
    await daemon.restart();
    expect((await running("outlives")).status?.containerStatuses).toEqual(before.status?.containerStatuses);
  });
});

/** Selects the status fields that a restart of the daemon must preserve. */
function settled(status: Pod["status"]): object {
  return {
    phase: status?.phase,
    // The runtime forgets the address of a sandbox that was stopped.
    podIP: status?.phase === "Running" ? status.podIP : undefined,
    init: status?.initContainerStatuses,
    containers: status?.containerStatuses?.map(({ lastState: _, ...rest }) => rest),
  };
}
