import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { firstValueFrom } from "rxjs";
import { afterEach, expect, it } from "vitest";
import { askKubelet } from "../../../src/sinks/askKubelet.ts";
import { realClock } from "../../support/realClock.ts";

const ACCESS = { certificateAuthority: "", insecure: false, clientCertificate: "", clientKey: "", tokenFile: "" };
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function serverOf(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
const asked = (method: "GET" | "POST", url: string) => firstValueFrom(askKubelet(method, url, ACCESS, realClock));

it("sends the method without a body, and returns status and whole text", async () => {
  const url = await serverOf(({ method, headers }, answer) => {
    answer.statusCode = 418;
    answer.write(`${method} of `);
    answer.end(headers["content-length"]);
  });
  expect(await asked("POST", url)).toEqual({ status: 418, text: "POST of 0" });
  expect(await asked("GET", url)).toEqual({ status: 418, text: "GET of 0" });
});

it("takes a response of 16 MiB, and no larger one", async () => {
  const url = await serverOf(({ method }, answer) =>
    answer.end(Buffer.alloc(16 * 1024 ** 2 + (method === "GET" ? 0 : 1))),
  );
  expect((await asked("GET", url)).text.length).toBe(16 * 1024 ** 2);
  await expect(asked("POST", url)).rejects.toMatchObject({
    code: "Unavailable",
    message: "the answer is larger than 16777216 bytes",
  });
});

it("errors when nothing listens, and when the connection breaks", async () => {
  const broken = await serverOf((_asked, answer) => {
    answer.write("half");
    answer.destroy();
  });
  await expect(asked("GET", broken)).rejects.toMatchObject({ code: "Unavailable" });
  await expect(asked("GET", "http://127.0.0.1:1/")).rejects.toMatchObject({ code: "Unavailable" });
});
