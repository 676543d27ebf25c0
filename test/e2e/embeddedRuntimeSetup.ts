/** Embedded runtimes in temporary directories, with everything of theirs gone at the end of the test. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import { type EmbeddedRuntime, runEmbeddedRuntime } from "../../src/embeddedRuntime/runEmbeddedRuntime.ts";
import type { CreateContainerRequest } from "../../src/gen/cri.ts";
import { unmountBelow } from "../support/kernelState.ts";
import { connectRuntime, type RuntimeClient } from "./embeddedRuntimeClient.ts";

/** A directory that is deleted after the test. */
export function temporaryDir(): string {
  const dir = mkdtempSync(path.join(os.tmpdir(), "rxr-"));
  onTestFinished(() => {
    killProcessesMentioning(dir);
    unmountBelow(dir);
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

/** A runtime in this process and a client of it. */
export interface RunningRuntime {
  readonly dir: string;
  readonly socketPath: string;
  readonly stateDir: string;
  readonly runtime: EmbeddedRuntime;
  readonly client: RuntimeClient;
  /** Problems it reported. */
  readonly reports: readonly string[];
}

/** Starts a runtime below `dir`; stopped with its containers after the test. */
export async function startRuntime(dir = temporaryDir()): Promise<RunningRuntime> {
  const [socketPath, stateDir] = [path.join(dir, "s"), path.join(dir, "state")];
  const reports: string[] = [];
  const runtime = await runEmbeddedRuntime({ socketPath, stateDir, report: (line) => void reports.push(line) });
  const client = await connectRuntime(socketPath);
  onTestFinished(async () => {
    client.close();
    await runtime.close({ stopContainers: true, graceMs: 0 });
  });
  return { dir, socketPath, stateDir, runtime, client, reports };
}

/** A runtime in a process of its own, to be killed. */
export interface RuntimeProcess {
  readonly client: RuntimeClient;
  readonly pid: number;
  /** SIGKILL, and wait until it is gone. */
  kill(): Promise<void>;
}

/** Starts a runtime process below `dir`. */
export async function startRuntimeProcess(dir: string): Promise<RuntimeProcess> {
  const program = path.join(import.meta.dirname, "embeddedRuntimeProgram.ts");
  const [socketPath, stateDir] = [path.join(dir, "s"), path.join(dir, "state")];
  const child: ChildProcess = spawn(process.execPath, [program, socketPath, stateDir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const connected: RuntimeClient[] = [];
  const kill = async (): Promise<void> => {
    for (const client of connected) client.close();
    child.kill("SIGKILL");
    await exited;
  };
  onTestFinished(kill);
  if (child.stdout === null || child.pid === undefined) throw new Error("the runtime process did not start");
  await Promise.race([
    once(child.stdout, "data"),
    exited.then(() => Promise.reject(new Error("the runtime process ended at once"))),
  ]);
  const client = await connectRuntime(socketPath);
  connected.push(client);
  return { client, pid: child.pid, kill };
}

/** A sandbox and what its containers are created with. */
export interface TestPod {
  readonly sandboxId: string;
  /** Creates a container of `rxlet.dev/host`; its log is `<logDirectory>/<name>.log`. */
  create(name: string, config: ContainerInit): Promise<string>;
  /** Creates and starts. */
  start(name: string, config: ContainerInit): Promise<string>;
  /** Entries of the log: stream, tag, text. */
  log(name: string): readonly (readonly [string, string, string])[];
  readonly logDirectory: string;
}
type CreateRequest = Parameters<typeof CreateContainerRequest.fromPartial>[0];
/** Partial `ContainerConfig`. */
export type ContainerInit = NonNullable<CreateRequest["config"]>;

/** Runs a sandbox named `name`. */
export async function runPod(client: RuntimeClient, dir: string, name = "web"): Promise<TestPod> {
  const logDirectory = path.join(dir, "logs", name);
  const config = {
    metadata: { name, namespace: "demo", uid: `uid-of-${name}`, attempt: 0 },
    hostname: name,
    logDirectory,
    labels: { app: name },
    annotations: { note: "kept" },
  };
  const { podSandboxId: sandboxId } = await client.call("runPodSandbox", { config });
  const create = async (container: string, more: ContainerInit): Promise<string> => {
    const { containerId } = await client.call("createContainer", {
      podSandboxId: sandboxId,
      config: {
        metadata: { name: container, attempt: 0 },
        image: { image: "rxlet.dev/host" },
        logPath: `${container}.log`,
        ...more,
      },
      sandboxConfig: config,
    });
    return containerId;
  };
  return {
    sandboxId,
    create,
    start: async (container, more) => {
      const containerId = await create(container, more);
      await client.call("startContainer", { containerId });
      return containerId;
    },
    log: (container) => readLog(path.join(logDirectory, `${container}.log`)),
    logDirectory,
  };
}

/** A command of the shell. */
export const sh = (script: string): { readonly command: readonly string[] } => ({ command: ["/bin/sh", "-c", script] });

/** Entries of a CRI log; throws for a line that is none. */
export function readLog(file: string): readonly (readonly [string, string, string])[] {
  const lines = readFileSync(file, "utf8").split("\n");
  if (lines.pop() !== "") throw new Error(`${file} ends within a line`);
  return lines.map((line) => {
    const match = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z (stdout|stderr) ([FP]) (.*)$/.exec(line);
    if (match === null) throw new Error(`not an entry of a CRI log: ${line}`);
    const [, stream = "", tag = "", text = ""] = match;
    return [stream, tag, text] as const;
  });
}

/** Pids of processes with `text` in their command line, environment or directory; zombies do not count. */
export function processesMentioning(text: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => mentions(`/proc/${pid}`, text))
    .map(Number);
}

function mentions(proc: string, text: string): boolean {
  try {
    const words = ["cmdline", "environ"].map((file) => readFileSync(`${proc}/${file}`, "latin1"));
    return [...words, readlinkSync(`${proc}/cwd`)].some((word) => word.includes(text));
  } catch {
    return false;
  }
}

function killProcessesMentioning(text: string): void {
  if (process.platform !== "linux") return;
  for (const pid of processesMentioning(text)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process ended in the meantime.
    }
  }
}
