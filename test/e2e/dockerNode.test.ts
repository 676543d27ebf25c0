/** A node whose runtime is Docker behind the dockershim: pods from start to end, and a kubelet killed in between. */
import { mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { firstValueFrom } from "rxjs";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as cri from "../../src/gen/cri.ts";
import { type Daemon, startDaemon } from "../support/daemon.ts";
import { describeOnDocker } from "../support/dockerInstallation.ts";
import { type DockershimNode, startDockershimNode } from "../support/dockershimNode.ts";
import { removeFolder } from "../support/removeFolder.ts";
import { waitFor } from "../support/waitFor.ts";
import { manifest, script, server } from "./manifests.ts";

describeOnDocker("a node on Docker", (installation) => {
  let node: DockershimNode;
  let folder = "";
  let daemon: Daemon;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rxlet-e2e-"));
    node = await startDockershimNode(installation);
    const endpoint = `unix://${join(node.docker.folder, "cri.sock")}`;
    daemon = await startDaemon({ folder, endpoint, cgroupRoot: node.docker.cgroupParent });
  });
  afterAll(async () => {
    await daemon?.kill("SIGTERM");
    await node?.stop();
    await removeFolder(folder);
  });

  const list = async () =>
    (await firstValueFrom(node.client.runtime.listContainers(cri.ListContainersRequest.create()))).containers;

  it("runs pods, takes them over after a kill, and leaves nothing of them", async () => {
    const state = { volumeMounts: [{ name: "state", mountPath: "/state" }] };
    const probe = { readinessProbe: { exec: { command: ["test", "-f", "/state/ready"] }, periodSeconds: 1 } };
    await daemon.put(
      "web.json",
      manifest("web", {
        volumes: [{ name: "state", emptyDir: {} }],
        initContainers: [script("setup", "echo prepared > /state/ready", state)],
        containers: [server("main", "cat /state/ready", { ...state, ...probe })],
      }),
    );
    const failed = { terminationMessagePolicy: "FallbackToLogsOnError" as const };
    await daemon.put(
      "failed.json",
      manifest("failed", {
        restartPolicy: "Never",
        containers: [script("main", "echo why it failed; exit 3", failed)],
      }),
    );
    const isReady = (pod: {
      readonly status?: { readonly containerStatuses?: readonly { readonly ready: boolean }[] };
    }) => pod.status?.containerStatuses?.every(({ ready }) => ready) === true;
    const web = await daemon.until("web", isReady, "ready");
    const ended = await daemon.until("failed", ({ status }) => status?.phase === "Failed", "Failed");
    expect(ended.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({
      exitCode: 3,
      reason: "Error",
      message: "why it failed\n",
    });
    const { containerID, imageID, restartCount } = web.status?.containerStatuses?.[0] ?? {};
    expect([containerID?.startsWith("docker://"), imageID !== "", restartCount]).toEqual([true, true, 0]);
    const running = (await list()).find(({ id }) => containerID?.endsWith(id));
    const { network } = await node.under.sandboxStatus(running?.podSandboxId ?? "");
    expect([web.status?.podIP, web.status?.podIP]).toEqual([network?.ip, expect.stringMatching(/^10\./)]);

    await daemon.kill("SIGKILL");
    await daemon.restart();
    const again = await daemon.until("web", isReady, "ready again");
    expect(again.status?.containerStatuses?.[0]).toMatchObject({ containerID, restartCount: 0 });
    expect((await list()).filter(({ state: each }) => each === cri.ContainerState.CONTAINER_RUNNING)).toHaveLength(1);

    await node.docker.killDaemon("SIGTERM");
    await node.docker.startDaemon({ liveRestore: false });
    await waitFor("the kubelet to find Docker again", async () => (await list()).length > 0);
    expect(
      (await daemon.until("web", isReady, "ready on the next Docker")).status?.containerStatuses?.[0],
    ).toMatchObject({
      containerID,
      restartCount: 0,
    });
    await node.docker.killDaemon("SIGTERM");
    await node.docker.startDaemon({ liveRestore: false });
    const isAnother = (pod: Parameters<typeof isReady>[0] & typeof again): boolean =>
      isReady(pod) && pod.status?.containerStatuses?.[0]?.containerID !== containerID;
    await daemon.until("web", isAnother, "ready in another sandbox, since Docker ended the first");
    expect((await list()).filter(({ state: each }) => each === cri.ContainerState.CONTAINER_RUNNING)).toHaveLength(1);

    await daemon.dropAll();
    await waitFor("all containers to go", async () => {
      const { body } = await node.docker.request("GET", "/containers/json?all=1");
      return (JSON.parse(body) as readonly unknown[]).length === 0;
    });
    await waitFor("the logs to go", async () => (await readdir(join(folder, "logs", "pods"))).length === 0);
    expect(node.reports).toEqual([]);
  });
});
