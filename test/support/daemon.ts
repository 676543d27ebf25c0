/** The daemon as a user runs it: a process of its own, its configuration in a folder, asked over its own HTTP servers. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Pod } from "../../src/core/api.ts";
import { KERNEL_TUNABLES } from "../../src/core/node/hostRequirements.ts";
import { slicePath } from "../../src/core/resources/cgroupDriver.ts";
import { BUILT_MAIN } from "./builtProgram.ts";
import { cgroupRoots } from "./kernelState.ts";
import { freePort } from "./ports.ts";
import { waitFor } from "./waitFor.ts";

export interface DaemonOptions {
  /** Parent of all files of the daemon. */
  readonly folder: string;
  readonly endpoint: string;
  /** Parent of all cgroups; absent: no cgroups per pod. */
  readonly cgroupRoot?: string;
  /** More KubeletConfiguration fields. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** More flags. */
  readonly args?: readonly string[];
  /** Environment variables added to those of the test. */
  readonly env?: Readonly<Record<string, string>>;
  /** File for standard output; default: the log, as for standard error. */
  readonly outputFile?: string;
  /** Main module to run; default: the built program. */
  readonly main?: string;
}

/** A line of the daemon's log. */
export interface LogEntry {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** A Kubernetes event as the log tells it. */
export interface LoggedEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  /** Field path within the pod, like `spec.containers{name}`, or absent. */
  readonly fieldPath?: string;
  /** How often until then; absent for once. */
  readonly count?: number;
}

/** A running daemon. */
export interface Daemon {
  readonly folder: string;
  readonly manifests: string;
  readonly nodeName: string;
  readonly pid: number;
  /** Exit code of the last process; undefined while it runs. */
  readonly exitCode: number | undefined;
  readonly readOnlyUrl: string;
  readonly healthzUrl: string;
  /** Writes a manifest beside and renames it into place. */
  put(name: string, manifest: unknown): Promise<void>;
  /** Writes a manifest where it is, as an editor without a temporary file does. */
  overwrite(name: string, manifest: unknown): Promise<void>;
  /** Removes a manifest. */
  drop(name: string): Promise<void>;
  /** Removes all manifests. */
  dropAll(): Promise<void>;
  pods(): Promise<readonly Pod[]>;
  /** A pod by the name in its manifest. */
  pod(name: string): Promise<Pod | undefined>;
  /** Waits until the pod is as `wanted`; fails with its last status. */
  until(name: string, wanted: (pod: Pod) => boolean, what?: string): Promise<Pod>;
  untilGone(name: string): Promise<void>;
  metrics(): Promise<string>;
  /** Value of one sample, by name and labels as they are printed; undefined when there is none. */
  metric(sample: string): Promise<number | undefined>;
  log(): Promise<string>;
  /** The log, line by line. */
  logEntries(): Promise<readonly LogEntry[]>;
  /** Events of a pod so far, by the name in its manifest. */
  events(name: string): Promise<readonly LoggedEvent[]>;
  /** Ends the process and waits for it; pods go on. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same disk and configuration. */
  restart(): Promise<void>;
}

/** Node name of every test daemon. */
export const NODE_NAME = "test-node";
/** A wait that takes longer, even on a busy machine, fails. */
const DAEMON_WAIT_MS = 90_000;
/** A daemon ends within two seconds; the rest is room for a busy machine. */
const END_MS = 20_000;

/** Starts one; resolves when it answers. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { folder } = options;
  const manifests = join(folder, "manifests");
  const logFile = join(folder, "rxlet.log");
  await mkdir(manifests, { recursive: true });
  const [readOnlyPort, healthzPort] = [await freePort(), await freePort()];
  const configFile = join(folder, "config.json");
  if (options.cgroupRoot !== undefined) makeCgroupRoot(options.cgroupRoot, options.config?.["cgroupDriver"]);
  const kernelFlags = await privateKernelFlags(folder);
  await writeFile(configFile, JSON.stringify(configuration(options, manifests, readOnlyPort, healthzPort)));
  const readOnlyUrl = `http://127.0.0.1:${readOnlyPort}`;
  const args = [
    options.main ?? BUILT_MAIN,
    "--config",
    configFile,
    "--root-dir",
    join(folder, "kubelet"),
    "--hostname-override",
    NODE_NAME,
    "--proc-sys-dir",
    kernelFlags,
    ...(options.args ?? []),
  ];
  let child = await launch(args, logFile, readOnlyUrl, options);

  const pods = async (): Promise<readonly Pod[]> => {
    const answer = await fetch(`${readOnlyUrl}/pods`);
    return ((await answer.json()) as { readonly items: readonly Pod[] }).items;
  };
  const pod = async (name: string): Promise<Pod | undefined> =>
    (await pods()).find(({ metadata }) => metadata.name === `${name}-${NODE_NAME}`);
  const metrics = async (): Promise<string> => (await fetch(`${readOnlyUrl}/metrics`)).text();
  const logEntries = async (): Promise<readonly LogEntry[]> => {
    // The daemon writes meanwhile: what follows the last line break is the beginning of a line.
    const lines = (await readFile(logFile, "utf8")).split("\n").slice(0, -1);
    return lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as LogEntry);
  };
  return {
    folder,
    manifests,
    nodeName: NODE_NAME,
    get pid() {
      return child.pid ?? 0;
    },
    get exitCode() {
      return child.exitCode ?? undefined;
    },
    readOnlyUrl,
    healthzUrl: `http://127.0.0.1:${healthzPort}`,
    put: async (name, manifest) => {
      await writeFile(join(folder, `${name}.new`), contentOf(manifest));
      await rename(join(folder, `${name}.new`), join(manifests, name));
    },
    overwrite: (name, manifest) => writeFile(join(manifests, name), contentOf(manifest)),
    drop: (name) => rm(join(manifests, name)),
    dropAll: async () => {
      for (const name of await readdir(manifests)) await rm(join(manifests, name), { recursive: true });
    },
    pods,
    pod,
    until: async (name, wanted, what = "as wanted") => {
      let last: Pod | undefined;
      const check = async (): Promise<Pod | undefined> => {
        last = await pod(name);
        return last !== undefined && wanted(last) ? last : undefined;
      };
      return waitFor(`pod ${name} to be ${what}`, check, DAEMON_WAIT_MS).catch(async (error: unknown) => {
        const log = (await readFile(logFile, "utf8")).slice(-6000);
        throw new Error(`${String(error)}\nlast status: ${JSON.stringify(last?.status)}\n${log}`);
      });
    },
    untilGone: async (name) => {
      await waitFor(`pod ${name} to be gone`, async () => (await pod(name)) === undefined, DAEMON_WAIT_MS);
    },
    metrics,
    metric: async (sample) => {
      const line = (await metrics()).split("\n").find((text) => text.startsWith(`${sample} `));
      return line === undefined ? undefined : Number(line.slice(sample.length + 1));
    },
    log: () => readFile(logFile, "utf8"),
    logEntries,
    events: async (name) => {
      // An event leaves its queue a turn after the status it goes with; by the time of another answer it is written.
      await fetch(`${readOnlyUrl}/healthz`).catch(() => undefined);
      return (await logEntries()).flatMap((entry) => {
        const { name: podName } = (entry["object"] ?? {}) as { readonly name?: string };
        return entry["logger"] === "events" && podName === `${name}-${NODE_NAME}` ? [eventOf(entry)] : [];
      });
    },
    kill: (signal = "SIGKILL") => end(child, signal),
    restart: async () => {
      child = await launch(args, logFile, readOnlyUrl, options);
    },
  };
}

/** Makes the parent of all cgroups, which a daemon does not; who removes the cgroups of its pods removes it too. */
function makeCgroupRoot(cgroupRoot: string, driver: unknown): void {
  const name = driver === "systemd" ? slicePath(cgroupRoot) : cgroupRoot;
  for (const root of cgroupRoots()) mkdirSync(join(root, name), { recursive: true });
}

/** A directory of kernel flags like `/proc/sys`: no test sets those of the machine. */
export async function privateKernelFlags(folder: string): Promise<string> {
  const dir = join(folder, "proc-sys");
  for (const flag of Object.keys(KERNEL_TUNABLES)) {
    await mkdir(dirname(join(dir, flag)), { recursive: true });
    await writeFile(join(dir, flag), "7\n");
  }
  return dir;
}

/** Text as it is, everything else as JSON. */
const contentOf = (manifest: unknown): string | Uint8Array =>
  typeof manifest === "string" || manifest instanceof Uint8Array ? manifest : JSON.stringify(manifest);

const eventOf = (entry: LogEntry): LoggedEvent => {
  const { type, reason, message, fieldPath, count } = entry as unknown as LoggedEvent;
  return {
    type,
    reason,
    message,
    ...(fieldPath === undefined ? {} : { fieldPath }),
    ...(count === undefined ? {} : { count }),
  };
};

function configuration(
  { folder, endpoint, cgroupRoot, config = {} }: DaemonOptions,
  manifests: string,
  readOnlyPort: number,
  healthzPort: number,
): Readonly<Record<string, unknown>> {
  const cgroups =
    cgroupRoot === undefined
      ? { cgroupsPerQOS: false, enforceNodeAllocatable: [] }
      : { cgroupsPerQOS: true, cgroupRoot };
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address: "127.0.0.1",
    readOnlyPort,
    healthzPort,
    // Several daemons run on one machine: a test of the HTTPS server gives it a port.
    enableServer: false,
    containerRuntimeEndpoint: endpoint,
    staticPodPath: manifests,
    podLogsDir: join(folder, "logs", "pods"),
    failSwapOn: false,
    failCgroupV1: false,
    // Tests may run on a disk that others fill.
    evictionHard: { "memory.available": "100Mi" },
    imageGCHighThresholdPercent: 100,
    // The firewall is that of the machine.
    makeIPTablesUtilChains: false,
    logging: { format: "json" },
    ...cgroups,
    ...config,
  };
}

async function launch(
  args: readonly string[],
  logFile: string,
  readOnlyUrl: string,
  { env, outputFile }: DaemonOptions,
): Promise<ChildProcess> {
  const log = await open(logFile, "a");
  const output = await open(outputFile ?? logFile, "a");
  const child = spawn(process.execPath, [...args], {
    stdio: ["ignore", output.fd, log.fd],
    env: { ...process.env, ...env },
  });
  await Promise.all([log.close(), output.close()]);
  try {
    const started = async (): Promise<"ended" | "answers" | undefined> => {
      if (child.exitCode !== null || child.signalCode !== null) return "ended";
      return (await fetch(`${readOnlyUrl}/healthz`)).status === 200 ? "answers" : undefined;
    };
    const outcome = await waitFor("the daemon to answer", started, DAEMON_WAIT_MS);
    if (outcome === "ended") throw new Error(`the daemon ended with ${child.exitCode ?? child.signalCode}`);
  } catch (error) {
    await end(child, "SIGKILL");
    throw new Error(`${String(error)}\n${await readFile(logFile, "utf8")}`);
  }
  return child;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  if (hasEnded()) return;
  child.kill(signal);
  await waitFor(`the daemon to end after ${signal}`, hasEnded, END_MS).catch(async (error: unknown) => {
    throw new Error(`${String(error)}\n${await stateOf(child.pid ?? 0)}`);
  });
}

/** The kernel function of each thread of a process. */
async function stateOf(pid: number): Promise<string> {
  const read = (file: string): Promise<string> => readFile(file, "utf8").catch(String);
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lines = tasks.map(async (task) => {
    const place = `/proc/${pid}/task/${task}`;
    return `${task} ${await read(`${place}/stat`)} in ${await read(`${place}/wchan`)}`;
  });
  return (await Promise.all(lines)).join("\n");
}
