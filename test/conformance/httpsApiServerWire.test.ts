/** Checks the wire format of the HTTPS test double with the platform's own client: it matches the real API server. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HttpsApiServer, startHttpsApiServer } from "../support/apiServer/httpsApiServer.ts";
import { newPod } from "../support/simApi.ts";

interface Sent {
  readonly method?: string;
  readonly type?: string;
  readonly body?: unknown;
  readonly token?: string;
  readonly accept?: string;
}

/** A pod as a client sends it: with apiVersion and kind. */
const wirePod = (...given: Parameters<typeof newPod>) => ({ apiVersion: "v1", kind: "Pod", ...newPod(...given) });

describe("HTTPS API server", () => {
  let server: HttpsApiServer | undefined;
  const under = (): HttpsApiServer => {
    if (server === undefined) throw new Error("the server did not start");
    return server;
  };
  beforeAll(async () => {
    server = await startHttpsApiServer();
    server.tokens.set("admin", { kind: "admin" });
    server.sim.put("nodes", { metadata: { name: "n1" } });
  });
  afterAll(() => server?.close());

  async function send(path: string, { method = "GET", type, body, token = "admin", accept }: Sent = {}) {
    const content = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
    const call = request(`${under().url}${path}`, {
      method,
      ca: under().authority.certificate,
      agent: false,
      headers: {
        authorization: `Bearer ${token}`,
        "content-length": Buffer.byteLength(content),
        ...(type === undefined ? {} : { "content-type": type }),
        ...(accept === undefined ? {} : { accept }),
      },
    });
    call.end(content);
    const [answer] = (await once(call, "response")) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    return { code: answer.statusCode, headers: answer.headers, text, json: (): unknown => JSON.parse(text) };
  }
  const reasonOf = async (path: string, sent: Sent): Promise<unknown> => {
    const { code, json } = await send(path, sent);
    const { kind, status, reason, code: reported } = json() as Record<string, unknown>;
    expect({ kind, status, reported }).toEqual({ kind: "Status", status: "Failure", reported: code });
    return `${code} ${String(reason)}`;
  };
  const pods = "/api/v1/namespaces/default/pods";

  it.each<[string, string, Sent, string]>([
    ["an unknown token", pods, { token: "stranger" }, "401 Unauthorized"],
    [
      "a body that is no JSON type",
      pods,
      { method: "POST", type: "text/plain", body: "{}" },
      "415 UnsupportedMediaType",
    ],
    [
      "a patch of no patch type",
      `${pods}/a`,
      { method: "PATCH", type: "application/json", body: {} },
      "415 UnsupportedMediaType",
    ],
    ["a client that takes no JSON", pods, { accept: "text/html" }, "406 NotAcceptable"],
    ["a body that is no JSON", pods, { method: "POST", body: "{" }, "400 BadRequest"],
    // The URL says of what type it is.
    ["an object without a name", pods, { method: "POST", body: { spec: { containers: [] } } }, "422 Invalid"],
    ["an object of another type", pods, { method: "POST", body: { apiVersion: "v1", kind: "Node" } }, "400 BadRequest"],
    [
      "an object of another namespace",
      pods,
      { method: "POST", body: wirePod("a", {}, { namespace: "kube-system" }) },
      "400 BadRequest",
    ],
    [
      "a body of more than 3 MiB",
      pods,
      { method: "POST", body: " ".repeat(3 * 1024 * 1024 + 1) },
      "413 RequestEntityTooLarge",
    ],
    ["a verb it does not know", `${pods}/a`, { method: "OPTIONS" }, "405 MethodNotAllowed"],
    ["a subresource it does not have", `${pods}/a/nonsense`, { method: "PUT", body: wirePod("a") }, "404 NotFound"],
    ["a name that is not the URL's", `${pods}/a`, { method: "PUT", body: wirePod("b") }, "400 BadRequest"],
    ["initial events at no version", "/api/v1/pods?watch=true&sendInitialEvents=true", {}, "422 Invalid"],
    ["an object that is not there", `${pods}/nobody`, {}, "404 NotFound"],
  ])("refuses %s", async (_what, path, sent, expected) => {
    expect(await reasonOf(path, sent)).toBe(expected);
  });

  it("says nothing of a Status where it has no such path", async () => {
    const { code, text } = await send("/apis/example.com/v1/things");
    expect([code, text]).toEqual([404, "404 page not found\n"]);
  });

  it("creates with 201, lists without repeating types, deletes by the options in the body", async () => {
    const made = await send(pods, { method: "POST", body: wirePod("listed", { nodeName: "n1" }) });
    const list = (await send(`${pods}?fieldSelector=spec.nodeName%3Dn1`)).json() as {
      readonly kind: string;
      readonly items: readonly { readonly kind?: string; readonly metadata: { readonly name: string } }[];
    };
    const wrong = { gracePeriodSeconds: 0, preconditions: { uid: "00000000-0000-4000-8000-00000000dead" } };
    const refused = await reasonOf(`${pods}/listed`, { method: "DELETE", body: wrong });
    const gone = await send(`${pods}/listed`, { method: "DELETE", body: { gracePeriodSeconds: 0 } });
    expect({
      made: made.code,
      kind: list.kind,
      items: list.items.map(({ kind, metadata }) => [kind, metadata.name]),
      refused,
      gone: gone.code,
    }).toEqual({ made: 201, kind: "PodList", items: [[undefined, "listed"]], refused: "409 Conflict", gone: 200 });
  });

  it("ends a watch with its time, one event a line", async () => {
    under().sim.put("pods", newPod("watched"));
    const path = `${pods}?watch=1&fieldSelector=metadata.name%3Dwatched&timeoutSeconds=1`;
    const { text } = await send(path);
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; object: { kind: string } });
    expect(lines.map(({ type, object }) => [type, object.kind])).toEqual([["ADDED", "Pod"]]);
  });

  it("asks for a pause in the header real clients read", async () => {
    under().tamper(() => ({ status: 429, headers: { "retry-after": "7" }, body: "slow down" }));
    const { code, headers, text } = await send(pods);
    under().tamper();
    expect([code, headers["retry-after"], text]).toEqual([429, "7", "slow down"]);
  });
});
