/** Clients of HTTP/1.1 that send requests ahead of their answers. */
import { once } from "node:events";
import type { TLSSocket } from "node:tls";
import { Subject } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import type { ExecSyncResponse } from "../../../src/gen/cri.ts";
import { MAX_WAITING } from "../../../src/server/pipelining.ts";
import { IDLE_RUNTIME, NO_PODS } from "../../support/kubeletApp.ts";
import { type KubeletListener, startKubeletListener } from "../../support/kubeletListener.ts";
import { RUNNING_WEB, WEB } from "../../support/runningWeb.ts";
import { waitFor } from "../../support/waitFor.ts";

let server: KubeletListener | undefined;
afterEach(() => server?.close());

/** A node whose commands end when the test says so. */
async function start() {
  const commands: Subject<ExecSyncResponse>[] = [];
  const execSync = () => {
    const answer$ = new Subject<ExecSyncResponse>();
    commands.push(answer$);
    return answer$;
  };
  const queries = { ...NO_PODS, pods: () => [WEB], runtimePods: () => [RUNNING_WEB] };
  const listener = await startKubeletListener({ queries, runtime: { ...IDLE_RUNTIME, execSync } });
  server = listener;
  const end = (at: number, text: string): void =>
    commands[at]?.next({ stdout: Buffer.from(text), stderr: Buffer.alloc(0), exitCode: 0 });
  return { listener, commands, end };
}

const command = (name: string): string =>
  `POST /run/demo/web/main?cmd=${name} HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n`;

function hear(socket: TLSSocket): () => string {
  let heard = "";
  socket.on("error", () => {});
  socket.on("data", (part: Buffer) => (heard += part.toString()));
  return () => heard;
}

describe("pipelined requests", () => {
  it("are answered one at a time and in order", async () => {
    const { listener, commands, end } = await start();
    const socket = await listener.connect();
    const heard = hear(socket);
    socket.write(`${command("a")}${command("b")}GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
    await waitFor("the first command", () => commands.length === 1);
    expect((await listener.request("/healthz")).status).toBe(200);
    expect(commands).toHaveLength(1);
    end(0, "first");
    await waitFor("the second command", () => commands.length === 2);
    end(1, "second");
    await once(socket, "close");
    expect(heard().match(/HTTP\/1.1 200|first|second|ok$/g)).toEqual([
      ...["HTTP/1.1 200", "first", "HTTP/1.1 200", "second", "HTTP/1.1 200", "ok"],
    ]);
  });

  it("close the connection and cancel the request in progress when there are too many", async () => {
    const { listener, commands } = await start();
    const socket = await listener.connect();
    const heard = hear(socket);
    socket.write(command("a").repeat(MAX_WAITING + 1));
    await waitFor("the first command", () => commands.length === 1);
    expect([socket.destroyed, commands[0]?.observed]).toEqual([false, true]);
    socket.write(command("a").repeat(2_000));
    await waitFor("the end of the connection", () => socket.destroyed);
    await waitFor("the command to be cancelled", () => commands[0]?.observed === false);
    expect([heard(), commands.length]).toEqual(["", 1]);
  });

  it("are not answered after the last response of a connection", async () => {
    const { listener, commands } = await start();
    const socket = await listener.connect();
    const heard = hear(socket);
    socket.write(`GET /healthz HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\nx${command("a")}`);
    await waitFor("the end of the connection", () => socket.destroyed);
    expect([heard().match(/HTTP\/1.1 \d+/g), commands.length]).toEqual([["HTTP/1.1 413"], 0]);
  });

  it("cannot upgrade while a response is pending", async () => {
    const { listener, commands, end } = await start();
    const socket = await listener.connect();
    const heard = hear(socket);
    const upgrade =
      "GET /exec/demo/web/main?output=1 HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: SPDY/3.1\r\n\r\n";
    socket.write(`${command("a")}${upgrade}`);
    await waitFor("the command", () => commands.length === 1);
    expect(heard()).toBe("");
    end(0, "first");
    await waitFor("the second answer", () => heard().includes("Upgrade request required"));
    expect(heard().match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 500"]);
    socket.destroy();
  });
});
