/**
 * Docker or containerd of this machine as the runtime of `rxlet dev`: checked before the node starts, and without its
 * pods after the node has ended. Bounds: CONNECT_MS for the check, REMOVE_MS for the removal of all pods.
 */
import { readFile, stat } from "node:fs/promises";
import { createConnection } from "node:net";
import path from "node:path";
import { firstValueFrom } from "rxjs";
import { DOCKER_FLAGS, type DockerOptions } from "../cli/dockerFlags.ts";
import { ownFlagValues } from "../cli/parseKubeletFlags.ts";
import type { DevOptions } from "../cli/subCommands.ts";
import { type FoundSandbox, runtimePods } from "../core/dev/runtimePods.ts";
import { type MachineRuntime, RUNTIME_TITLE, type SocketFacts, socketTrouble } from "../core/dev/socketTrouble.ts";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import { errnoOf } from "../core/ioError.ts";
import type { Logger } from "../ports/telemetry.ts";
import { createCriClient, type CriClient } from "../sinks/cri.ts";
import { systemClock } from "../sources/systemClock.ts";
import type { DevRuntime } from "./devRuntime.ts";
import { claimRuntime } from "./runtimeClaim.ts";

const CONNECT_MS = 5_000;
const CALL_MS = 60_000;
const REMOVE_MS = 30_000;
const ENDPOINTS: Readonly<Record<MachineRuntime, string>> = {
  docker: "unix:///var/run/docker.sock",
  containerd: "unix:///run/containerd/containerd.sock",
};
const SCHEME = "unix://";
const NETWORK_READY = "NetworkReady";

/** An open runtime, and hints about it for the user. */
export interface MachineRuntimePlace {
  readonly runtime: DevRuntime;
  /** URL of its CRI socket. */
  readonly endpoint: string;
  readonly notices: readonly string[];
}

/** Opens the runtime. Rejects with a KubeletError that says what the user can do. */
export async function openMachineRuntime(
  runtime: MachineRuntime,
  { runtimeEndpoint }: DevOptions,
  root: string,
  log: Pick<Logger, "info" | "warn">,
): Promise<MachineRuntimePlace> {
  const target = runtimeEndpoint ?? usualEndpoint(runtime);
  await checkSocket(runtime, target.slice(SCHEME.length));
  const claim = await claimRuntime(target);
  const server = await serve(runtime, target, root, log);
  const client = createCriClient({ endpoint: server.endpoint, defaultDeadlineMs: CALL_MS, clock: systemClock });
  const release = async (): Promise<void> => {
    client.close();
    await server.close();
  };
  try {
    const decision = runtimePods(RUNTIME_TITLE[runtime], await sandboxesOf(client), claim.last);
    if (decision.kind === "refused") throw fault(runtime, decision.why);
    await removeSandboxes(client, decision.leftover);
    await claim.take();
    const notices = await noticesOf(runtime, client, decision.leftover.length);
    return {
      endpoint: server.endpoint,
      notices,
      runtime: {
        ended: new Promise(() => {}),
        // No child outlives this process and could remove the path.
        inherit: () => {},
        stop: async () => {
          const left = (await sandboxesOf(client)).map(({ id }) => id);
          await removeSandboxes(client, left);
          await claim.drop();
          await release();
        },
      },
    };
  } catch (thrown) {
    await release();
    throw explained(runtime, thrown);
  }
}

const fault = (runtime: MachineRuntime, why: string) => kubeletError("Unavailable", `--runtime=${runtime}: ${why}`);

/** Returns the endpoint that Docker's own client would use, or the usual one. */
function usualEndpoint(runtime: MachineRuntime): string {
  const host = process.env["DOCKER_HOST"] ?? "";
  return runtime === "docker" && host.startsWith(`${SCHEME}/`) ? host : ENDPOINTS[runtime];
}

async function checkSocket(runtime: MachineRuntime, socket: string): Promise<void> {
  const errno = await connectionErrno(socket);
  if (errno === undefined) return;
  throw fault(runtime, socketTrouble(runtime, socket, errno, await factsOf(socket)));
}

/** Connects; resolves with the errno name of a failure. */
function connectionErrno(socket: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const connection = createConnection({ path: socket, timeout: CONNECT_MS });
    const settle = (answer: string | undefined) => {
      connection.destroy();
      resolve(answer);
    };
    connection.once("connect", () => settle(undefined));
    connection.once("timeout", () => settle("ETIMEDOUT"));
    connection.once("error", (thrown) => settle(errnoOf(thrown)));
  });
}

async function factsOf(socket: string): Promise<SocketFacts | undefined> {
  const stats = await stat(socket).catch(() => undefined);
  if (stats === undefined) return undefined;
  const [owner, group] = await Promise.all([nameOf("/etc/passwd", stats.uid), nameOf("/etc/group", stats.gid)]);
  return { isSocket: stats.isSocket(), owner, group, mode: stats.mode & 0o7777 };
}

/** Returns the name of a user or group; its number where the file lacks it. */
async function nameOf(file: string, id: number): Promise<string> {
  const lines = (await readFile(file, "utf8").catch(() => "")).split("\n");
  return lines.map((line) => line.split(":")).find(([, , number]) => number === String(id))?.[0] ?? String(id);
}

/** Opens a CRI server: containerd is one itself. */
async function serve(runtime: MachineRuntime, target: string, root: string, log: Pick<Logger, "info" | "warn">) {
  if (runtime === "containerd") return { endpoint: target, close: () => Promise.resolve() };
  const { startDockershim } = await import("./startDockershim.ts");
  const stateDir = path.join(root, "dockershim");
  const socketPath = path.join(root, "runtime.sock");
  const defaults = ownFlagValues([], DOCKER_FLAGS) as unknown as DockerOptions;
  const docker: DockerOptions = { ...defaults, dockerEndpoint: target, networkPlugin: "bridge" };
  const shim = await startDockershim({ docker, socketPath, stateDir, isInCluster: false, log });
  return { endpoint: `${SCHEME}${socketPath}`, close: () => shim.close() };
}

async function sandboxesOf({ runtime }: CriClient): Promise<readonly FoundSandbox[]> {
  const { items } = await firstValueFrom(runtime.listPodSandbox({ filter: undefined }));
  return items.map(({ id, metadata, annotations }) => ({
    id,
    namespace: metadata?.namespace ?? "",
    name: metadata?.name ?? "",
    source: annotations["kubernetes.io/config.source"] ?? "",
  }));
}

/** Stops and removes sandboxes with their containers. Rejects with the first failure after all were tried. */
async function removeSandboxes({ runtime }: CriClient, ids: readonly string[]): Promise<void> {
  const remove = async (podSandboxId: string): Promise<void> => {
    await firstValueFrom(runtime.stopPodSandbox({ podSandboxId }, { deadlineMs: REMOVE_MS }));
    await firstValueFrom(runtime.removePodSandbox({ podSandboxId }, { deadlineMs: REMOVE_MS }));
  };
  const outcomes = await Promise.allSettled(ids.map(remove));
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** Returns lines about what a user would otherwise wonder at. */
async function noticesOf(
  runtime: MachineRuntime,
  { runtime: cri }: CriClient,
  leftover: number,
): Promise<readonly string[]> {
  const title = RUNTIME_TITLE[runtime];
  const { status } = await firstValueFrom(cri.status({ verbose: false }));
  const network = status?.conditions.find(({ type }) => type === NETWORK_READY);
  const hasNetwork = network === undefined || network.status;
  return [
    ...(leftover === 0 ? [] : [`${title} had pods of an rxlet dev that was killed: ${leftover} removed`]),
    ...(hasNetwork ? [] : [`${title} has no pod network, so pods wait: ${network.message}`]),
    ...(runtime === "docker" && process.getuid?.() !== 0
      ? ["Docker's log files belong to root: rxlet logs needs root"]
      : []),
  ];
}

/** Says in the user's terms why a runtime does not answer CRI. */
function explained(runtime: MachineRuntime, thrown: unknown) {
  const error = toKubeletError(thrown);
  if (runtime !== "containerd" || error.code !== "Unimplemented") return error;
  return fault(
    runtime,
    "it serves no CRI v1: its configuration disables the plugin cri, as that of Docker's packages does " +
      "(disabled_plugins in /etc/containerd/config.toml); --runtime=docker needs none",
  );
}
