/** A daemon on a private containerd, shared by the tests of a file, and looks at what it did to the machine. */
import { type Dirent, existsSync } from "node:fs";
import { mkdtemp, readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { firstValueFrom } from "rxjs";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import {
  type Container,
  type ContainerStatus,
  ContainerStatusRequest,
  ExecSyncRequest,
  ListContainersRequest,
  ListPodSandboxRequest,
  type PodSandbox,
  PodSandboxStatusRequest,
  StopContainerRequest,
} from "../../src/gen/cri.ts";
import type { CriClient } from "../../src/sinks/cri.ts";
import type { ContainerdInstallation } from "../support/containerdInstallation.ts";
import { type Daemon, type DaemonOptions, startDaemon } from "../support/daemon.ts";
import { cgroupFolders } from "../support/kernelState.ts";
import {
  type PrivateContainerd,
  type PrivateContainerdOptions,
  startPrivateContainerd,
} from "../support/privateContainerd.ts";
import { waitFor } from "../support/waitFor.ts";
import { removeFolder } from "../support/removeFolder.ts";

/** Resources of a pod found on the machine. */
export interface PodTraces {
  readonly sandboxes: readonly string[];
  readonly containers: readonly string[];
  readonly podDirs: readonly string[];
  readonly logDirs: readonly string[];
  readonly logLinks: readonly string[];
  readonly cgroups: readonly string[];
}

/** The verbose part of a sandbox's status. */
export interface SandboxInfo {
  readonly pid: number;
  /** The PodSandboxConfig we sent, in protobuf's JSON. */
  readonly config: {
    readonly port_mappings?: readonly unknown[];
    readonly linux?: { readonly cgroup_parent?: string; readonly overhead?: Readonly<Record<string, unknown>> };
  };
}

/** The verbose part of a container's status. */
export interface ContainerInfo {
  /** The ContainerConfig we sent, in protobuf's JSON: what is zero is absent. */
  readonly config: {
    readonly linux?: {
      readonly resources?: Readonly<Record<string, unknown>>;
      readonly security_context?: Readonly<Record<string, unknown>>;
    };
  };
}

/** The traces of a removed pod: none. */
export const NO_TRACES: PodTraces = {
  sandboxes: [],
  containers: [],
  podDirs: [],
  logDirs: [],
  logLinks: [],
  cgroups: [],
};

/** Set up before the first test of the file, gone after the last. */
export interface ContainerdNode {
  readonly containerd: PrivateContainerd;
  readonly daemon: Daemon;
  /** Directory of everything of the daemon; more may be put there. */
  readonly folder: string;
  readonly client: CriClient;
  containers(uid?: string): Promise<readonly Container[]>;
  sandboxes(uid?: string): Promise<readonly PodSandbox[]>;
  /** Returns the runtime's own container status, with nanoseconds. */
  containerStatus(id: string): Promise<ContainerStatus>;
  /** Ends a container behind the daemon's back. */
  stopContainer(id: string): Promise<void>;
  /** Runs a command in a container behind the daemon's back; its exit code. */
  exec(id: string, command: readonly string[]): Promise<number>;
  /** The ContainerConfig a container was made with, as `crictl inspect` shows it: in protobuf's JSON. */
  containerConfig(id: string): Promise<ContainerInfo["config"]>;
  /** Returns sandbox information that is specific to containerd. */
  sandboxInfo(sandboxId: string): Promise<SandboxInfo>;
  traces(): Promise<PodTraces>;
  /** Messages a container wrote, line by line, without the CRI log's own columns. */
  output(pod: Pod, container: string, attempt?: number): Promise<readonly string[]>;
  /** Waits for a line in a container's output and gives all of it. */
  untilOutput(pod: Pod, container: string, line: string | RegExp, attempt?: number): Promise<readonly string[]>;
}

/** A removal that the runtime refuses is retried after the sync-error delay, at most 15 s each time. */
const TRACES_WAIT_MS = 40_000;
/** Characters of the daemon's log that are shown for a failed test. */
const LOG_TAIL = 8_000;

/** Resources created before the daemon starts. */
interface Prepared {
  readonly args?: () => Promise<readonly string[]>;
  readonly env?: () => Promise<Readonly<Record<string, string>>>;
  readonly containerd?: PrivateContainerdOptions;
  /** The daemon's directories, made in an empty one. Default: that directory. */
  readonly folder?: (made: string) => Promise<string>;
}

/** The node of a test. */
export type NodeOptions = Pick<DaemonOptions, "config"> & Prepared;

/** Registers the hooks; call it once in a describe. After each test its manifests go, and nothing of any pod may stay. */
export function containerdNode(
  installation: ContainerdInstallation,
  { config, args, env, containerd: how, folder: folderIn = async (made) => made }: NodeOptions = {},
): ContainerdNode {
  let containerd: PrivateContainerd | undefined;
  let daemon: Daemon | undefined;
  let client: CriClient | undefined;
  let made = "";
  let folder = "";
  const containers = async (uid?: string): Promise<readonly Container[]> => {
    const request = ListContainersRequest.create({ filter: { labelSelector: podLabel(uid) } });
    return (await firstValueFrom(started(client).runtime.listContainers(request))).containers;
  };
  const sandboxes = async (uid?: string): Promise<readonly PodSandbox[]> => {
    const request = ListPodSandboxRequest.create({ filter: { labelSelector: podLabel(uid) } });
    return (await firstValueFrom(started(client).runtime.listPodSandbox(request))).items;
  };
  const output = async (pod: Pod, container: string, attempt = 0): Promise<readonly string[]> => {
    const text = await readFile(join(podLogFolder(folder, pod), container, `${attempt}.log`), "utf8");
    return text.split("\n").flatMap((line) => (line === "" ? [] : [line.split(" ").slice(3).join(" ")]));
  };
  const traces = async (): Promise<PodTraces> => ({
    sandboxes: (await sandboxes()).map(({ id }) => id).sort(),
    containers: (await containers()).map(({ id }) => id).sort(),
    podDirs: await namesIn(join(folder, "kubelet", "pods")),
    logDirs: await namesIn(join(folder, "logs", "pods")),
    logLinks: await namesIn(join(folder, "logs", "containers")),
    cgroups: await podCgroups(started(containerd).cgroupParent),
  });

  beforeAll(async () => {
    made = await mkdtemp(join(tmpdir(), "rxlet-e2e-"));
    folder = await folderIn(made);
    containerd = await startPrivateContainerd(installation, how);
    client = containerd.client();
    const { endpoint, cgroupParent } = containerd;
    daemon = await startDaemon({
      folder,
      endpoint,
      cgroupRoot: cgroupParent,
      ...(config === undefined ? {} : { config }),
      ...(args === undefined ? {} : { args: await args() }),
      ...(env === undefined ? {} : { env: await env() }),
    });
  });
  afterEach(async ({ task }) => {
    const { log, dropAll } = started(daemon);
    if (task.result?.state === "fail") process.stderr.write((await log()).slice(-LOG_TAIL));
    await dropAll();
    await waitForTraces(traces, NO_TRACES).catch(async (thrown: unknown) => {
      process.stderr.write((await log()).slice(-LOG_TAIL));
      throw thrown;
    });
  });
  afterAll(async () => {
    await daemon?.kill("SIGTERM");
    await containerd?.stop();
    await removeFolder(made);
  });
  return {
    get containerd() {
      return started(containerd);
    },
    get daemon() {
      return started(daemon);
    },
    get folder() {
      return folder;
    },
    get client() {
      return started(client);
    },
    containers,
    sandboxes,
    containerStatus: async (id) => {
      const answer = await firstValueFrom(
        started(client).runtime.containerStatus(ContainerStatusRequest.create({ containerId: id })),
      );
      if (answer.status === undefined) throw new Error(`container ${id} has no status`);
      return answer.status;
    },
    stopContainer: async (id) => {
      const request = StopContainerRequest.create({ containerId: id, timeout: 5n });
      await firstValueFrom(started(client).runtime.stopContainer(request));
    },
    exec: async (containerId, cmd) => {
      const request = ExecSyncRequest.create({ containerId, cmd, timeout: 10n });
      return (await firstValueFrom(started(client).runtime.execSync(request))).exitCode;
    },
    containerConfig: async (containerId) => {
      const request = ContainerStatusRequest.create({ containerId, verbose: true });
      const { info } = await firstValueFrom(started(client).runtime.containerStatus(request));
      return (JSON.parse(info["info"] ?? "{}") as ContainerInfo).config;
    },
    sandboxInfo: async (podSandboxId) => {
      const request = PodSandboxStatusRequest.create({ podSandboxId, verbose: true });
      const { info } = await firstValueFrom(started(client).runtime.podSandboxStatus(request));
      return JSON.parse(info["info"] ?? "{}") as SandboxInfo;
    },
    traces,
    output,
    untilOutput: async (pod, container, line, attempt = 0) =>
      waitFor(`${container} of ${pod.metadata.name} to write ${String(line)}`, async () => {
        const lines = await output(pod, container, attempt);
        const isThere = lines.some((text) => (typeof line === "string" ? text === line : line.test(text)));
        return isThere ? lines : undefined;
      }),
  };
}

/** Waits until the machine shows exactly these traces; the difference is in the failure. */
export async function waitForTraces(look: () => Promise<PodTraces>, wanted: PodTraces): Promise<void> {
  let last: PodTraces | undefined;
  await waitFor(
    "the traces of all pods to be as wanted",
    async () => {
      last = await look();
      return JSON.stringify(last) === JSON.stringify(wanted);
    },
    TRACES_WAIT_MS,
  ).catch(() => expect(last).toEqual(wanted));
}

function started<T>(part: T | undefined): T {
  if (part === undefined) throw new Error("used outside of a test: the hooks have not run");
  return part;
}

/** Directory of the logs of a pod's containers. */
export const podLogFolder = (folder: string, { metadata }: Pod): string =>
  join(folder, "logs", "pods", `${metadata.namespace}_${metadata.name}_${metadata.uid}`);

const podLabel = (uid: string | undefined): Record<string, string> =>
  uid === undefined ? {} : { "io.kubernetes.pod.uid": uid };

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).sort();
}

/** Cgroups of pods at or below the parent, in any hierarchy, by name. */
async function podCgroups(parent: string): Promise<readonly string[]> {
  const names = new Set<string>();
  for (const root of cgroupFolders(parent))
    for (const entry of await entriesBelow(root))
      if (entry.isDirectory() && /^pod/.test(entry.name)) names.add(entry.name);
  return [...names].sort();
}

/** Lists all entries at one time: looks again when an entry goes away meanwhile. */
async function entriesBelow(folder: string): Promise<readonly Dirent[]> {
  for (;;) {
    try {
      return await readdir(folder, { withFileTypes: true, recursive: true });
    } catch (thrown) {
      if (!existsSync(folder)) throw thrown;
    }
  }
}
