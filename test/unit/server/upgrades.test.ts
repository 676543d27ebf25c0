/** Requests for an upgrade that no stream answers: they cost no more than any other request. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import type { TLSSocket } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import { epochMs } from "../../../src/core/ids.ts";
import type { NodeLogs } from "../../../src/ports/nodeLogs.ts";
import { createUpgrades } from "../../../src/server/upgrades.ts";
import { type KubeletListener, startKubeletListener } from "../../support/kubeletListener.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";
import { waitFor } from "../../support/waitFor.ts";

const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

/** A log without end, and how much of it was read. */
function endlessLog() {
  const reading = { pieces: 0, isCancelled: false };
  const nodeLogs: NodeLogs = {
    open: () =>
      Promise.resolve({
        kind: "file",
        modifiedAt: epochMs(0),
        bytes: new ReadableStream(
          {
            pull: (controller) => {
              reading.pieces += 1;
              controller.enqueue(new Uint8Array(65_536));
            },
            cancel: () => {
              reading.isCancelled = true;
            },
          },
          { highWaterMark: 0 },
        ),
      }),
    services: () => Promise.reject(kubeletError("Unimplemented", "not in this test")),
  };
  return { reading, nodeLogs };
}

async function ask({ connect }: KubeletListener, path: string): Promise<TLSSocket> {
  const socket = await connect();
  socket.on("error", () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: node\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n`);
  return socket;
}

async function firstLine(socket: TLSSocket): Promise<string> {
  const piece = await new Promise<Buffer>((resolve) => socket.once("data", resolve));
  return String(piece).split("\r\n")[0] ?? "";
}

describe("an upgrade request", () => {
  it.each([
    "/exec/%2e%2e/logs/big",
    "/exec/.%2E/logs/big",
    "/exec/../logs/big",
    "/attach/x/%2e%2e/%2e%2e/logs/big",
    "//exec/../logs/big",
  ])("is redirected if its path only resembles a stream: %s", async (path) => {
    const { reading, nodeLogs } = endlessLog();
    const server = await startKubeletListener({ nodeLogs });
    open.push(server);
    expect(await firstLine(await ask(server, path))).toBe("HTTP/1.1 307 Temporary Redirect");
    expect(reading.pieces).toBe(0);
  });

  it("receives a response with back-pressure if its path is not a stream, until the client disconnects", async () => {
    const { reading, nodeLogs } = endlessLog();
    const server = await startKubeletListener({ nodeLogs });
    open.push(server);
    const socket = await ask(server, "/logs/big");
    expect(await firstLine(socket)).toBe("HTTP/1.1 200 OK");
    socket.pause();
    let before = -1;
    await waitFor("the log to be read no further", () => {
      const isStill = before === reading.pieces;
      before = reading.pieces;
      return isStill;
    });
    socket.destroy();
    await waitFor("the log to be let go", () => reading.isCancelled);
  });
});

/** An upgrade on a connection in memory, answered by `fetch`. */
function upgrade(fetch: () => Promise<Response>) {
  const telemetry = recordingTelemetry();
  const [client, server] = duplexPair();
  const socket = Object.assign(server, { setTimeout: () => server }) as unknown as Socket;
  const incoming = { url: "/exec/a/b/c", method: "GET", rawHeaders: ["Host", "node"] } as IncomingMessage;
  createUpgrades({ fetch }, { idleTimeoutMs: 0, onReceived: () => undefined }, telemetry).listener(
    incoming,
    socket,
    Buffer.alloc(0),
    undefined,
  );
  return { client, server, telemetry };
}

async function heard(client: Duplex): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of client) parts.push(part as Buffer);
  return String(Buffer.concat(parts));
}

describe("the response to an upgrade request", () => {
  it("is a logged and counted 500 when the route throws", async () => {
    const { client, telemetry } = upgrade(() => Promise.reject(kubeletError("Io", "the disk is gone")));
    expect(await heard(client)).toMatch(
      /^HTTP\/1\.1 500 Internal Server Error\r\n.*\r\n\r\n500: Internal Server Error$/s,
    );
    expect(telemetry.lines).toMatchObject([
      { level: "error", fields: { task: "upgrade", error: { message: "the disk is gone" } } },
    ]);
    expect([...telemetry.samples]).toEqual([['rxlet_failed_tasks_total{task="upgrade"}', 1]]);
  });

  it("is that of the route with its headers", async () => {
    const answer = new Response("no", { status: 403, headers: { "X-Own": "1", "content-length": "7" } });
    expect(await heard(upgrade(() => Promise.resolve(answer)).client)).toBe(
      "HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain;charset=UTF-8\r\nx-own: 1\r\nConnection: close\r\n\r\nno",
    );
  });

  it("closes the connection when the route's body fails", async () => {
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error("the disk is gone")) });
    const { client, server, telemetry } = upgrade(() => Promise.resolve(new Response(body)));
    client.on("data", () => {});
    await waitFor("the connection to be closed", () => server.destroyed);
    expect(telemetry.lines).toEqual([]);
  });

  it("is cancelled when the client has disconnected", async () => {
    const { promise: cancelled, resolve: cancel } = Promise.withResolvers<void>();
    const { promise: isAsked, resolve: answer } = Promise.withResolvers<Response>();
    const { server } = upgrade(() => isAsked);
    server.destroy();
    answer(new Response(new ReadableStream({ cancel: () => cancel() })));
    await cancelled;
  });
});
