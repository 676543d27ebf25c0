/** Servers that begin an answer and never end it: the commands of this program do not wait for ever. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { firstValueFrom, type Observable, VirtualTimeScheduler } from "rxjs";
import { expect, it, onTestFinished } from "vitest";
import type { KubeletAccess } from "../../../src/core/auth/kubeletAccess.ts";
import { toKubeletError } from "../../../src/core/errors.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import { askKubelet } from "../../../src/sinks/askKubelet.ts";
import { openBody, openStreams } from "../../../src/sinks/kubeletStreams.ts";
import { virtualClock } from "../../support/marbles.ts";

const ACCESS: KubeletAccess = {
  certificateAuthority: "",
  insecure: false,
  clientCertificate: "",
  clientKey: "",
  tokenFile: "",
};

type Ask = (url: string, clock: Clock) => Observable<unknown>;

it.each<[string, Ask, number, string]>([
  ["a page", (url, clock) => askKubelet("GET", url, ACCESS, clock), 60_000, "no whole answer within 60000 ms"],
  ["a log", (url, clock) => openBody(url, ACCESS, clock), 30_000, "no answer within 30000 ms"],
  [
    "a command",
    (url, clock) => openStreams(url, "v4.channel.k8s.io", ACCESS, clock),
    30_000,
    "no answer within 30000 ms",
  ],
])("an endless answer to who asks for %s is given up", async (_what, ask, deadlineMs, message) => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close().closeAllConnections());
  await once(server, "listening");
  const scheduler = new VirtualTimeScheduler();
  const { port } = server.address() as AddressInfo;
  const answered = firstValueFrom(ask(`http://127.0.0.1:${port}/pods`, virtualClock(scheduler))).catch(toKubeletError);
  const [, answer] = (await once(server, "request")) as [unknown, ServerResponse];
  answer.writeHead(500).write("I am afraid");
  const closed = once(answer, "close");
  scheduler.maxFrames = deadlineMs - 1;
  scheduler.flush();
  expect(answer.destroyed).toBe(false);
  scheduler.maxFrames = deadlineMs;
  scheduler.flush();
  expect(await answered).toMatchObject({ code: "Unavailable", message });
  await closed;
});
