import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { firstValueFrom } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isKubeletError } from "../../../src/core/errors.ts";
import { manifestServer } from "../../../src/sources/manifestServer.ts";

let server: Server;
let url: string;
let respond: (response: ServerResponse) => void;
let asked: IncomingHttpHeaders;
let closed: Promise<unknown>;
const NONE = { etag: undefined, lastModified: undefined };
const textOf = (body: Uint8Array) => new TextDecoder().decode(body);
const failureOf = async (call: Promise<unknown>): Promise<string> => {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return isKubeletError(error) ? `${error.code}: ${error.message}` : String(error);
};

beforeEach(async () => {
  server = createServer((request, response) => {
    asked = request.headers;
    closed = once(response, "close");
    if (request.url === "/moved") response.writeHead(302, { location: "/" }).end();
    else respond(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

describe("manifestServer", () => {
  it("sends its headers and conditions, and returns body and validators", async () => {
    respond = (response) => response.writeHead(200, { etag: '"2"', "last-modified": "later" }).end("hello");
    const port = manifestServer({ url, headers: { "x-a": ["1", "2"], authorization: ["secret"] } });
    const answer = await firstValueFrom(port.get({ etag: '"1"', lastModified: "before" }));
    expect({ ...answer, body: textOf(answer.body) }).toEqual({
      status: 200,
      body: "hello",
      etag: '"2"',
      lastModified: "later",
    });
    const { "x-a": ours, authorization, "if-none-match": etag, "if-modified-since": since } = asked;
    expect([ours, authorization, etag, since]).toEqual(["1, 2", "secret", '"1"', "before"]);
  });
  it("returns other statuses without their bodies", async () => {
    respond = (response) => response.writeHead(503).end("go away");
    const answer = await firstValueFrom(manifestServer({ url, headers: {} }).get(NONE));
    expect([answer.status, answer.body.length]).toEqual([503, 0]);
  });
  it("follows redirects", async () => {
    respond = (response) => response.end("hello");
    const answer = await firstValueFrom(manifestServer({ url: `${url}moved`, headers: {} }).get(NONE));
    expect([answer.status, textOf(answer.body)]).toEqual([200, "hello"]);
  });
  it("refuses bodies beyond its limit", async () => {
    respond = (response) => response.end("x".repeat(101));
    const port = manifestServer({ url, headers: {}, maxBytes: 100 });
    expect(await failureOf(firstValueFrom(port.get(NONE)))).toBe(
      "ResourceExhausted: the answer is larger than 100 bytes",
    );
  });
  it("tells when nobody answers, and when an answer breaks off", async () => {
    respond = (response) => {
      response.writeHead(200, { "content-length": "100" }).write("half");
      response.destroy();
    };
    expect(await failureOf(firstValueFrom(manifestServer({ url, headers: {} }).get(NONE)))).toMatch(/^Unavailable: /);
    const nobody = manifestServer({ url: "http://127.0.0.1:1/", headers: {} });
    expect(await failureOf(firstValueFrom(nobody.get(NONE)))).toMatch(/^Unavailable: no answer: /);
  });
  it("closes the connection of a request that is no longer wanted", async () => {
    const reached = new Promise<void>((resolve) => {
      respond = () => resolve();
    });
    const request = manifestServer({ url, headers: {} }).get(NONE).subscribe();
    await reached;
    request.unsubscribe();
    await closed;
    expect(request.closed).toBe(true);
  });
});
