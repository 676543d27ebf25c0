/** A kubelet of any make, on a private containerd, as a node of a real cluster. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { mkdir, mkdtemp, open, readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { findContainerd } from "../../test/support/containerdInstallation.ts";
import { cgroupRoots, unmountBelow } from "../../test/support/kernelState.ts";
import { freePort } from "../../test/support/ports.ts";
import { type PrivateContainerd, startPrivateContainerd } from "../../test/support/privateContainerd.ts";
import { removeFolder } from "../../test/support/removeFolder.ts";
import { packagedEnvironment } from "../benchNode.ts";
import { wallMs } from "../figures.ts";
import { type ClusterPods, followClusterPods } from "./clusterPods.ts";

/** A kubelet to measure: its name in the table, and the program with its first arguments. */
export interface Candidate {
  readonly name: string;
  readonly command: readonly string[];
}

export interface MeasuredKubelet {
  readonly folder: string;
  readonly manifests: string;
  readonly nodeName: string;
  /** Process id of the kubelet; another one after `killAndRestart`. */
  readonly pid: number;
  readonly containerd: PrivateContainerd;
  readonly pods: ClusterPods;
  readonly configFile: string;
  /** Root directory of the kubelet. */
  readonly rootDir: string;
  /** Where its server listens; the server signs its certificate itself. */
  readonly server: { readonly host: string; readonly port: number; readonly rejectUnauthorized: false };
  /** Metrics of its server, as text. */
  metrics(): Promise<string>;
  /** Ends the kubelet by SIGKILL and starts it again at once. Returns the wall time of the signal in milliseconds. */
  killAndRestart(): Promise<number>;
}

const END_MS = 30_000;

/** Runs `measure` on a fresh node of the cluster and removes all of it. */
export async function onMeasuredKubelet(
  { name, command }: Candidate,
  kubeconfig: string,
  measure: (kubelet: MeasuredKubelet) => Promise<void>,
): Promise<void> {
  const search = findContainerd();
  if (!search.found) throw new Error(`cannot measure here, missing: ${search.missing.join(", ")}`);
  const folder = await mkdtemp(join(tmpdir(), "rxlet-compare-"));
  const nodeName = `bench-${name}`;
  let containerd: PrivateContainerd | undefined;
  let pods: ClusterPods | undefined;
  let child: ChildProcess | undefined;
  try {
    containerd = await startPrivateContainerd(search.installation);
    const { configFile, manifests, port } = await writeConfiguration(folder, containerd);
    const rootDir = join(folder, "kubelet");
    pods = await followClusterPods(kubeconfig, nodeName);
    const flags = {
      config: configFile,
      kubeconfig,
      "root-dir": rootDir,
      "cert-dir": join(folder, "pki"),
    };
    const args = Object.entries({ ...flags, "hostname-override": nodeName }).map(
      ([flag, value]) => `--${flag}=${value}`,
    );
    const start = () => startKubelet(command, args, join(folder, "kubelet.log"));
    child = await start();
    await pods.nodeReady();
    const server = { host: "127.0.0.1", port, rejectUnauthorized: false } as const;
    await measure({
      ...{ folder, manifests, nodeName, containerd, pods, configFile, rootDir, server },
      get pid() {
        return child?.pid ?? 0;
      },
      metrics: () => metricsAt(server),
      killAndRestart: async () => {
        const at = wallMs();
        if (child !== undefined) await kill(child);
        child = await start();
        return at;
      },
    });
  } catch (thrown) {
    const log = await readFile(join(folder, "kubelet.log"), "utf8").catch(() => "");
    throw new Error(`${name}: ${String(thrown)}\n${log.slice(-3_000)}`, { cause: thrown });
  } finally {
    await end(child);
    await pods?.close();
    await containerd?.stop();
    unmountBelow(folder);
    await removeFolder(folder);
  }
}

/** Starts a kubelet that appends its output to a file. */
async function startKubelet(command: readonly string[], args: readonly string[], logFile: string) {
  const log = await open(logFile, "a");
  const [program = "", ...first] = command;
  const env = { ...process.env, ...(await packagedEnvironment()) };
  const child = spawn(program, [...first, ...args], { stdio: ["ignore", log.fd, log.fd], env });
  await log.close();
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

async function metricsAt(server: MeasuredKubelet["server"]): Promise<string> {
  const sent = request({ ...server, path: "/metrics" }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return text(response);
}

/** Ends the process, by force if it does not end. */
async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const force = setTimeout(() => child.kill("SIGKILL"), END_MS);
  await ended;
  clearTimeout(force);
}

/** The same configuration for all candidates. */
async function writeConfiguration(folder: string, { endpoint, cgroupParent }: PrivateContainerd) {
  const port = await freePort();
  const [configFile, manifests] = [join(folder, "config.json"), join(folder, "manifests")];
  await mkdir(manifests);
  for (const root of cgroupRoots()) mkdirSync(join(root, cgroupParent), { recursive: true });
  const document = {
    ...{ apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" },
    ...{ containerRuntimeEndpoint: endpoint, staticPodPath: manifests, podLogsDir: join(folder, "logs/pods") },
    ...{ address: "127.0.0.1", port, readOnlyPort: 0, healthzPort: 0 },
    ...{ cgroupDriver: "cgroupfs", cgroupsPerQOS: true, cgroupRoot: cgroupParent, enforceNodeAllocatable: [] },
    ...{ failSwapOn: false, failCgroupV1: false, makeIPTablesUtilChains: false, oomScoreAdj: 0 },
    ...{ authentication: { anonymous: { enabled: true }, webhook: { enabled: false } } },
    ...{ authorization: { mode: "AlwaysAllow" }, maxPods: 250, serializeImagePulls: false },
    ...{ evictionHard: { "memory.available": "100Mi" }, imageGCHighThresholdPercent: 100 },
  };
  await writeFile(configFile, JSON.stringify(document));
  return { configFile, manifests, port };
}
