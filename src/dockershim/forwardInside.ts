/**
 * Port-forward into the network namespace of a sandbox. Its servers are at its addresses; those that listen on its
 * loopback interface alone are reached by a process that enters the namespace, where `nsenter` is there and may.
 */
import { spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import { forwardTo } from "../criServer/forwardTo.ts";

/** A sandbox to forward to. */
export interface ForwardPlace {
  readonly pid: number;
  readonly ips: readonly string[];
}

const MAX_MESSAGE = 1024;
/** Connects standard input and output to a server of the namespace, in place of socat. */
const RELAY = `
const net = require("node:net");
const port = Number(process.argv[1]);
const open = (hosts) => {
  const socket = net.connect({ host: hosts[0], port, allowHalfOpen: true });
  socket.once("error", (error) => {
    if (hosts.length > 1) return open(hosts.slice(1));
    process.stderr.write(error.message);
    process.exitCode = 1;
    process.stdin.destroy();
  });
  socket.once("connect", () => {
    socket.removeAllListeners("error");
    socket.on("error", () => process.exit(1));
    process.stdin.pipe(socket);
    socket.pipe(process.stdout);
    socket.once("close", () => process.stdin.destroy());
  });
};
open(["127.0.0.1", "::1"]);
`;

/** Connects the stream until both directions have ended. Resolves with an error text, or undefined on success. */
export async function forwardInside(
  { pid, ips }: ForwardPlace,
  port: number,
  stream: Duplex,
): Promise<string | undefined> {
  const outside = ips.length === 0 ? "the sandbox has no address" : await forwardTo(ips, port, stream);
  if (outside === undefined) return undefined;
  const inside = await relay(pid, port, stream);
  return inside === undefined ? undefined : `${outside}; ${inside}`;
}

async function relay(pid: number, port: number, stream: Duplex): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const args = ["--target", String(pid), "--net", "--", process.execPath, "-e", RELAY, String(port)];
  const child = spawn("nsenter", args, { stdio: ["pipe", "pipe", "pipe"] });
  let told = "";
  child.stderr.on("data", (piece: Buffer) => {
    told = `${told}${piece.toString()}`.slice(0, MAX_MESSAGE);
  });
  child.once("error", (error) => resolve(error.message));
  child.once("close", (code) => resolve(code === 0 ? undefined : told || `the relay ended with ${code}`));
  child.stdin.on("error", () => undefined);
  const end = (): void => void child.kill("SIGKILL");
  stream.once("close", end);
  stream.pipe(child.stdin);
  child.stdout.pipe(stream);
  try {
    return await promise;
  } finally {
    stream.removeListener("close", end);
    stream.unpipe(child.stdin);
  }
}
