import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { firstValueFrom } from "rxjs";
import { describe, expect, it, onTestFinished } from "vitest";
import type { PodPage } from "../../../src/cli/top/topPod.ts";
import { createTopRequests } from "../../../src/commands/topRequests.ts";
import { LIVE_HEADER } from "../../../src/core/live/liveMessages.ts";

const ACCESS = { certificateAuthority: "", insecure: false, clientCertificate: "", clientKey: "", tokenFile: "" };
const POD = { namespace: "demo", name: "web" };
const TIMELINE: PodPage = { kind: "timeline", ...POD };
const LOG: PodPage = { kind: "log", container: "main", ...POD };

/** Starts a node that gives these answers in order, the last one again and again; returns requests to it. */
async function nodeWith(...answers: readonly (readonly [status: number, text: string])[]) {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    const [status, text] = answers[Math.min(asked.push(request), answers.length) - 1] ?? [500, ""];
    response.writeHead(status).end(text);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    if (server.listening) await new Promise((closed) => server.close(closed));
  };
  onTestFinished(close);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const requests = createTopRequests({ kind: "server", url, access: ACCESS });
  return { requests, asked, close };
}

describe("the requests of rxlet top about a pod", () => {
  it("read its timeline as text, and the log of a container", async () => {
    const { requests, asked } = await nodeWith([200, "demo/web\n\nSo far\n"], [200, "hello\n"]);
    expect(await firstValueFrom(requests.page(TIMELINE))).toEqual(["demo/web", "", "So far"]);
    expect(await firstValueFrom(requests.page(LOG))).toEqual(["hello"]);
    expect(asked.map(({ url }) => url)).toEqual([
      "/debug/rxlet/pods/demo/web/timeline?format=text",
      "/live/logs/demo/web/main",
    ]);
  });

  it("try it again with the header that the node asks for", async () => {
    const { requests, asked } = await nodeWith([200, "demo/web: backoffs are reset\n"]);
    expect(await firstValueFrom(requests.retry(POD))).toBe("demo/web: backoffs are reset");
    expect(asked.map(({ method, url, headers }) => [method, url, headers[LIVE_HEADER]])).toEqual([
      ["POST", "/live/retry/demo/web", "1"],
    ]);
  });

  it("say why there is no answer", async () => {
    const { requests, close } = await nodeWith([404, 'no pod "demo/web"\n'], [500, ""]);
    expect(await firstValueFrom(requests.page(TIMELINE))).toBe('no pod "demo/web"');
    expect(await firstValueFrom(requests.retry(POD))).toBe("the node answered 500");
    await close();
    // The first request may take a connection of an earlier one.
    expect(await firstValueFrom(requests.page(LOG))).toMatch(/ECONNREFUSED|ECONNRESET|hang up/);
    expect(await firstValueFrom(requests.retry(POD))).toMatch(/ECONNREFUSED/);
  });

  it("take new credentials once when the node no longer knows the old ones", async () => {
    const { requests, asked } = await nodeWith([200, "a"], [401, "who?"], [200, "b"], [401, "who?"]);
    const read = () => firstValueFrom(requests.page(LOG));
    expect([await read(), await read(), asked.length]).toEqual([["a"], ["b"], 3]);
    expect([await read(), asked.length]).toEqual(["who?", 5]);
  });
});
