import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { firstValueFrom } from "rxjs";
import { describe, expect, it, onTestFinished } from "vitest";
import type { KubeletAccess } from "../../../src/core/auth/kubeletAccess.ts";
import { openBody, openStreams } from "../../../src/sinks/kubeletStreams.ts";
import { realClock } from "../../support/realClock.ts";

const ACCESS: KubeletAccess = {
  certificateAuthority: "",
  insecure: false,
  clientCertificate: "",
  clientKey: "",
  tokenFile: "",
};
const LARGEST = 64 * 1024;

/** The URL of a server that answers so. */
async function serving(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close().closeAllConnections());
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
}

describe("a body", () => {
  it("is the response of a GET", async () => {
    const methods: (string | undefined)[] = [];
    const url = await serving(({ method }, answer) => {
      methods.push(method);
      answer.end("lines");
    });
    const message = (await firstValueFrom(openBody(url, ACCESS, realClock))) as IncomingMessage;
    const parts: Buffer[] = [];
    for await (const part of message as AsyncIterable<Buffer>) parts.push(part);
    expect([methods, Buffer.concat(parts).toString()]).toEqual([["GET"], "lines"]);
  });

  it("is a refusal with status and text otherwise", async () => {
    const url = await serving((_, answer) => void answer.writeHead(403).end("Forbidden \n"));
    expect(await firstValueFrom(openBody(url, ACCESS, realClock))).toEqual({ status: 403, text: "Forbidden" });
  });

  it("of a refusal is read up to its bound", async () => {
    const url = await serving((_, answer) => {
      answer.writeHead(500);
      const more = (): void => {
        while (!answer.destroyed && answer.write("x".repeat(LARGEST)));
        if (!answer.destroyed) answer.once("drain", more);
      };
      more();
    });
    const refused = (await firstValueFrom(openBody(url, ACCESS, realClock))) as { status: number; text: string };
    expect([refused.status, refused.text.length > LARGEST, refused.text.length <= 4 * LARGEST]).toEqual([
      500,
      true,
      true,
    ]);
  });
});

describe("streams", () => {
  it("ask for SPDY with their protocol, and a refusal has status and text", async () => {
    const asked: unknown[] = [];
    const url = await serving(({ method, headers }, answer) => {
      asked.push(method, headers["x-stream-protocol-version"], headers["content-length"]);
      answer.writeHead(404).end("pod not found");
    });
    const refused = await firstValueFrom(openStreams(url, "v4.channel.k8s.io", ACCESS, realClock));
    expect([asked, refused]).toEqual([["POST", "v4.channel.k8s.io", "0"], { status: 404, text: "pod not found" }]);
  });

  it("are Unavailable without a server", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    for (const open of [
      openBody(`http://127.0.0.1:${port}/`, ACCESS, realClock),
      openStreams(`http://127.0.0.1:${port}/`, "p", ACCESS, realClock),
    ]) {
      await expect(firstValueFrom<unknown>(open)).rejects.toMatchObject({
        code: "Unavailable",
        message: expect.stringContaining("ECONNREFUSED") as string,
      });
    }
  });
});
