/** The daemon with a kubeconfig, against the API server behind HTTPS: it runs what is bound to it, server or no server. */
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { type HttpsApiServer, startHttpsApiServer } from "../support/apiServer/httpsApiServer.ts";
import { writeNodeKubeconfig } from "../support/apiServer/nodeKubeconfig.ts";
import { type Daemon, NODE_NAME as NODE, startDaemon } from "../support/daemon.ts";
import { newPod } from "../support/simApi.ts";
import { waitFor } from "../support/waitFor.ts";
import { startRuntime } from "./embeddedRuntimeSetup.ts";

const WAIT_MS = 90_000;
const container = { name: "main", image: "rxlet.dev/host", command: ["sleep", "600"] };

describe("a daemon with a kubeconfig", () => {
  let server: HttpsApiServer | undefined;
  let daemon: Daemon | undefined;
  const under = () => {
    if (server === undefined) throw new Error("the server did not start");
    return server;
  };
  beforeEach(async () => {
    server = await startHttpsApiServer();
    server.sim.put("nodes", { metadata: { name: NODE } });
  });
  afterEach(async () => {
    await daemon?.kill();
    daemon = undefined;
    await server?.close();
  });

  const start = async (): Promise<Daemon> => {
    const { dir, socketPath } = await startRuntime();
    const folder = join(dir, "node");
    const kubeconfig = await writeNodeKubeconfig(under(), NODE, folder);
    daemon = await startDaemon({ folder, endpoint: `unix://${socketPath}`, args: ["--kubeconfig", kubeconfig] });
    return daemon;
  };
  const podOf = async (of: Daemon, name: string): Promise<Pod | undefined> =>
    (await of.pods()).find(({ metadata }) => metadata.name === name);
  const running = (of: Daemon, name: string) =>
    waitFor(
      `pod ${name} to run`,
      async () => {
        const pod = await podOf(of, name);
        return pod?.status?.phase === "Running" ? pod : undefined;
      },
      WAIT_MS,
    ).catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${(await of.log()).slice(-6000)}`);
    });

  it("runs a pod that is bound to its node, through an outage, until it is deleted", async () => {
    const of = await start();
    under().sim.put("pods", newPod("bound", { nodeName: NODE, containers: [container] }));
    under().sim.put("pods", newPod("elsewhere", { nodeName: "other", containers: [container] }));
    const pod = await running(of, "bound");
    const reported = () => under().sim.object("pods", { namespace: "default", name: "bound" });
    await waitFor("the server to be told", () => reported()?.status?.phase === "Running", WAIT_MS);
    const up = () => of.metric('rxlet_source_up{source="api"}');

    await under().network.refuse();
    await waitFor("the outage to be told", async () => (await up()) === 0, WAIT_MS);
    const away = (await podOf(of, "bound"))?.status?.phase;
    await under().network.accept();
    under().sim.put("pods", newPod("later", { nodeName: NODE, containers: [container] }));
    await running(of, "later");

    under().sim.delete("pods", { namespace: "default", name: "bound" }, { gracePeriodSeconds: 1 });
    await waitFor("the pod to be gone", async () => (await podOf(of, "bound")) === undefined, WAIT_MS);
    await waitFor("its object to be gone", () => reported() === undefined, WAIT_MS);
    const refusals = (await of.metrics())
      .split("\n")
      // A lease that is not there yet, and a Node that is: both are asked for all the same.
      .filter((line) => /^rest_client_requests_total\{code="4(?!04|09)\d\d"/.test(line));
    expect([
      pod.metadata.annotations?.["kubernetes.io/config.source"],
      away,
      await up(),
      await podOf(of, "elsewhere"),
    ]).toEqual(["api", "Running", 1, undefined]);
    expect(refusals).toEqual([]);
  });

  it("runs static pods while it cannot reach the API server, and those bound to it once it can", async () => {
    await under().network.refuse();
    const of = await start();
    await of.put("static.json", {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "static" },
      spec: { containers: [container] },
    });
    await of.until("static", ({ status }) => status?.phase === "Running", "Running");
    under().sim.put("pods", newPod("bound", { nodeName: NODE, containers: [container] }));
    await under().network.accept();
    expect((await running(of, "bound")).metadata.name).toBe("bound");
  });
});
