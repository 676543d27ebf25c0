/** kubectl as a process, at a server that a test names. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { expect } from "vitest";
import { findProgram } from "./findProgram.ts";
import { waitFor } from "./waitFor.ts";

/** Absolute path of the program; undefined where there is none. */
export const KUBECTL = findProgram("kubectl");

/** Output of a kubectl run. */
export interface KubectlRun {
  readonly stdout: Buffer;
  readonly text: string;
  readonly errors: string;
  readonly code: number;
}

export interface Kubectl {
  start(...args: readonly string[]): ChildProcessWithoutNullStreams;
  /** Runs it to its end. */
  run(args: readonly string[], input?: Buffer | string): Promise<KubectlRun>;
}

/** The protocol that streams try first; older versions know SPDY alone. */
export type StreamProtocol = "WebSocket" | "SPDY";

/** A kubectl at this server; `folder` is for its caches. */
export function kubectlAt(
  server: () => string | undefined,
  folder: () => string,
  protocol: StreamProtocol = "WebSocket",
): Kubectl {
  const wanted = String(protocol === "WebSocket");
  const env = {
    ...process.env,
    KUBECONFIG: "/dev/null",
    KUBECTL_REMOTE_COMMAND_WEBSOCKETS: wanted,
    KUBECTL_PORT_FORWARD_WEBSOCKETS: wanted,
  };
  const start = (...args: readonly string[]) => {
    if (KUBECTL === undefined) throw new Error("kubectl is missing (Debian: kubernetes-client)");
    const all = [`--server=${server()}`, `--cache-dir=${folder()}/kubectl`, ...args];
    return spawn(KUBECTL, all, { env, stdio: ["pipe", "pipe", "pipe"] });
  };
  return {
    start,
    run: async (args, input = "") => {
      const child = start(...args);
      child.stdin.on("error", () => {});
      child.stdin.end(input);
      const exited = new Promise<number>((resolve) => child.on("exit", (code) => resolve(code ?? -1)));
      const [stdout, stderr, code] = await Promise.all([buffer(child.stdout), buffer(child.stderr), exited]);
      return { stdout, text: String(stdout), errors: String(stderr), code };
    },
  };
}

/** Asks a server of this machine, where the pod has its network, through one `port-forward`, a hundred times at once. */
export async function expectHundredForwards({ start }: Kubectl, pod: string): Promise<void> {
  const http = createServer((request, answer) => answer.end(`hello ${request.url}`));
  const port = await new Promise<number>((resolve) =>
    http.listen(0, "127.0.0.1", () => resolve((http.address() as AddressInfo).port)),
  );
  const child = start("port-forward", pod, `:${port}`);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => (said += String(part)));
  const local = await waitFor("kubectl to listen", () => /127\.0\.0\.1:(\d+)/.exec(said)?.[1]);
  const get = async (path: string): Promise<string> => {
    const socket = connect(Number(local), "127.0.0.1");
    socket.write(`GET ${path} HTTP/1.0\r\n\r\n`);
    return String(await buffer(socket)).split("\r\n\r\n")[1] ?? "";
  };
  const paths = Array.from({ length: 100 }, (_, index) => `/${index}`);
  expect(await Promise.all(paths.map(get))).toEqual(paths.map((path) => `hello ${path}`));
  child.kill();
  http.close();
  http.closeAllConnections();
}
