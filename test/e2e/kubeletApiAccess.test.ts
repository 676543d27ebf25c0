/** The HTTPS server authenticates and authorizes clients through a real API server: tokens, permissions, caches. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { firstValueFrom } from "rxjs";
import { describe, expect, it, onTestFinished } from "vitest";
import { startHttpsApiServer } from "../support/apiServer/httpsApiServer.ts";
import { writeNodeKubeconfig } from "../support/apiServer/nodeKubeconfig.ts";
import { NODE_NAME, startDaemon } from "../support/daemon.ts";
import { waitFor } from "../support/waitFor.ts";
import { startRuntime, temporaryDir } from "./embeddedRuntimeSetup.ts";
import { freePort } from "../support/ports.ts";

/** A monitor may read metrics and, as many do, get nodes/proxy. */
const PERMISSIONS: Readonly<Record<string, readonly string[]>> = {
  "system:serviceaccount:default:monitor": ["get metrics", "get proxy"],
  "system:serviceaccount:default:operator": ["create proxy", "get pods"],
};

interface Access {
  /** A token of a service account, from the API server itself. */
  tokenOf(name: string): Promise<string>;
  ask(
    method: string,
    path: string,
    token?: string,
  ): Promise<{ readonly status: number | undefined; readonly body: string }>;
  /** Token reviews and access reviews so far. */
  reviews(): readonly number[];
}

/** A node of a cluster on the embedded runtime; everything goes with the test. */
async function startNode(): Promise<Access> {
  const folder = temporaryDir();
  const port = await freePort();
  const server = await startHttpsApiServer({
    mayAccess: ({ user = "", resourceAttributes: { verb, subresource, name, resource } = {} }) =>
      resource === "nodes" && name === NODE_NAME && (PERMISSIONS[user] ?? []).includes(`${verb} ${subresource}`),
  });
  onTestFinished(() => server.close());
  const { socketPath } = await startRuntime();
  const daemon = await startDaemon({
    folder,
    endpoint: `unix://${socketPath}`,
    config: { enableServer: true, port },
    args: [`--kubeconfig=${await writeNodeKubeconfig(server, NODE_NAME, folder)}`, `--cert-dir=${folder}/pki`],
  });
  onTestFinished(() => daemon.kill("SIGTERM"));
  const ask: Access["ask"] = async (method, path, token) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const options = { host: "127.0.0.1", port, method, path, headers, rejectUnauthorized: false, agent: false };
    const request = httpsRequest(options).end();
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    let body = "";
    for await (const part of answer) body += String(part);
    return { status: answer.statusCode, body };
  };
  await waitFor("the server to answer", async () => (await ask("GET", "/healthz")).status === 401);
  return {
    ask,
    tokenOf: async (name) => {
      const { sim } = server;
      const ref = { namespace: "default", name };
      if (sim.object("serviceaccounts", ref) === undefined) sim.put("serviceaccounts", { metadata: ref });
      const request = { spec: { audiences: [], expirationSeconds: 3_600 } };
      const { status } = await firstValueFrom(sim.client().createSubresource("serviceaccounts/token", ref, request));
      return status?.token ?? "";
    },
    reviews: () =>
      ["tokenreviews", "subjectaccessreviews"].map(
        (kind) => server.requests.filter((line) => line.startsWith("POST") && line.includes(kind)).length,
      ),
  };
}

describe("access to the HTTPS server of a node of a cluster", () => {
  it("is what the API server says, asked once", async () => {
    const { ask, tokenOf, reviews } = await startNode();
    const monitor = await tokenOf("monitor");
    const operator = await tokenOf("operator");
    expect((await ask("GET", "/metrics", monitor)).status).toBe(200);
    expect((await ask("GET", "/pods", operator)).status).toBe(200);
    expect(await ask("GET", "/metrics", operator)).toEqual({
      status: 403,
      body: "Forbidden (user=system:serviceaccount:default:operator, verb=get, resource=nodes, subresource(s)=[metrics])\n",
    });
    expect(reviews()).toEqual([2, 3]);
    await ask("GET", "/metrics", monitor);
    expect(reviews()).toEqual([2, 3]);
    expect((await ask("GET", "/metrics", "forged")).status).toBe(401);
  });

  it("into containers is closed to who may only get nodes/proxy", async () => {
    const { ask, tokenOf } = await startNode();
    const path = "/exec/default/none/main?output=1";
    const monitor = await tokenOf("monitor");
    expect(await ask("GET", path, monitor)).toEqual({
      status: 403,
      body: "Forbidden (user=system:serviceaccount:default:monitor, verb=create, resource=nodes, subresource(s)=[proxy])\n",
    });
    expect(await ask("POST", path, await tokenOf("operator"))).toEqual({ status: 404, body: "pod does not exist" });
  });
});
