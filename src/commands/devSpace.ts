/** What `rxlet dev` opens before its node runs: state directory, log, embedded runtime, configuration. */
import { createWriteStream, type WriteStream } from "node:fs";
import { mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import type { PodTableHeader } from "../cli/podTable.ts";
import { runProgram } from "../cli/program.ts";
import type { DevOptions } from "../cli/subCommands.ts";
import { kubeletError } from "../core/errors.ts";
import { type DevRuntime, startDevRuntime } from "./devRuntime.ts";
import { KUBERNETES_VERSION } from "./version.ts";

const EXAMPLES = fileURLToPath(new URL("../../examples/first-pods", import.meta.url));
const DEFAULT_PORT = 10_255;
const LOOPBACK = "127.0.0.1";

/** Everything open; `close` undoes it all. */
export interface DevSpace {
  readonly options: KubeletOptions;
  readonly runtime: DevRuntime;
  readonly log: WriteStream;
  readonly logFile: string;
  readonly header: PodTableHeader;
  close(): Promise<void>;
}

/** Opens it. Rejects with a KubeletError naming what cannot be had. */
export async function openDevSpace(dev: DevOptions): Promise<DevSpace> {
  const manifests = path.resolve(dev.dir ?? EXAMPLES);
  const found = await stat(manifests).catch(() => undefined);
  if (found === undefined) throw kubeletError("NotFound", `${manifests}: no such directory of manifests`);
  const isTemporary = dev.rootDir === undefined;
  const root = isTemporary ? await mkdtemp(path.join(os.tmpdir(), "rxlet-")) : path.resolve(dev.rootDir);
  await mkdir(root, { recursive: true, mode: 0o700 });
  const logFile = path.join(root, "rxlet.log");
  const socket = path.join(root, "runtime.sock");
  const readOnlyPort = await usablePort(dev.readOnlyPort);
  const options = await devKubeletOptions({ ...dev, readOnlyPort }, manifests, root, socket);
  const runtime = await startDevRuntime(socket, path.join(root, "runtime"), logFile);
  const log = createWriteStream(logFile, { flags: "a" });
  const base = readOnlyPort === 0 ? undefined : `http://${LOOPBACK}:${readOnlyPort}`;
  return {
    options,
    runtime,
    log,
    logFile,
    header: { manifests, api: base, metrics: base === undefined ? undefined : `${base}/metrics`, log: logFile },
    close: async () => {
      await runtime.stop();
      await new Promise<void>((resolve) => {
        log.end(() => resolve());
      });
      if (isTemporary) await rm(root, { recursive: true, force: true });
    },
  };
}

/** The first five minutes do not fail on a port: when the default one is taken, any free one serves. */
async function usablePort(wanted: number): Promise<number> {
  if (wanted !== DEFAULT_PORT) return wanted;
  return (await freePort(wanted)) ?? (await freePort(0)) ?? wanted;
}

/** The port listened on for a moment; undefined when it is taken. */
async function freePort(port: number): Promise<number | undefined> {
  const server = createServer();
  const listened = new Promise<number | undefined>((resolve) => {
    server.once("error", () => resolve(undefined));
    server.listen(port, LOOPBACK, () => resolve((server.address() as AddressInfo).port));
  });
  const found = await listened;
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  return found;
}

/** The daemon's own command line, so that dev is no second way to configure a node. */
async function devKubeletOptions(
  dev: DevOptions,
  manifests: string,
  root: string,
  socket: string,
): Promise<KubeletOptions> {
  const argv = [
    `--container-runtime-endpoint=unix://${socket}`,
    `--root-dir=${path.join(root, "kubelet")}`,
    `--pod-manifest-path=${manifests}`,
    `--read-only-port=${dev.readOnlyPort}`,
    `--read-only-bind-address=${LOOPBACK}`,
    "--healthz-port=0",
    "--enable-server=false",
    "--cgroups-per-qos=false",
    "--enforce-node-allocatable=",
    `--v=${dev.logLevel}`,
    ...(dev.nodeName === undefined ? [] : [`--hostname-override=${dev.nodeName}`]),
  ];
  const invocation = await runProgram(argv, { version: KUBERNETES_VERSION });
  if (invocation.command === "kubelet") {
    const { config } = invocation.options;
    // A trial also runs on a machine with cgroup v1 or swap, or whose disk is nearly full.
    const own = {
      failCgroupV1: false,
      failSwapOn: false,
      podLogsDir: path.join(root, "logs", "pods"),
      evictionHard: {},
    };
    return { ...invocation.options, config: { ...config, ...own } };
  }
  const why = invocation.command === "error" ? invocation.errors.join("; ") : invocation.command;
  throw kubeletError("InvalidArgument", `rxlet dev: ${why}`);
}
