/**
 * A containerd of a test's own: root, state, socket, network and cgroups are private and gone after `stop`. Several
 * can run side by side; one whose test process was killed is cleaned up by the next one started.
 */
import { execFile, execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, openSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { firstValueFrom } from "rxjs";
import {
  ImageStatusRequest,
  ListPodSandboxRequest,
  RemovePodSandboxRequest,
  StatusRequest,
  StopPodSandboxRequest,
} from "../../src/gen/cri.ts";
import { createCriClient } from "../../src/sinks/cri.ts";
import type { CriClient, CriClientOptions } from "../../src/sinks/cri.ts";
import { containerdToml, podNetworkConfig } from "./containerdConfig.ts";
import type { ContainerdInstallation } from "./containerdInstallation.ts";
import { freeSubnet } from "./freeSubnet.ts";
import { hostPortsWork } from "./hostPorts.ts";
import { PAUSE_IMAGE, busyboxImage, pauseImage } from "./images.ts";
import type { ImageArchive } from "./images.ts";
import { shimsOf, unmountBelow } from "./kernelState.ts";
import { FOLDER_PREFIX, STATE_FILE, cleanUp, sweepAbandoned } from "./privateContainerdCleanUp.ts";
import type { PrivateState } from "./privateContainerdCleanUp.ts";
import { realClock } from "./realClock.ts";
import { waitFor } from "./waitFor.ts";

const run = promisify(execFile);

export interface PrivateContainerd {
  /** `unix://` and the socket. */
  readonly endpoint: string;
  readonly socket: string;
  /** Everything of it; `logs` and the like may be put here, it goes with `stop`. */
  readonly folder: string;
  /** Every sandbox has to name a cgroup at or below this one as its parent. */
  readonly cgroupParent: string;
  /** Whether port mappings with a host port work on this machine. */
  readonly hostPorts: boolean;
  /** Process id of the current daemon. */
  pid(): number;
  /** Shims alive now: one per pod. */
  shims(): readonly number[];
  /** A new client; the caller closes it. */
  client(options?: Partial<CriClientOptions>): CriClient;
  /** Loads an image and waits until CRI knows it. */
  importImage(image: ImageArchive): Promise<void>;
  /** Ends the daemon alone; pods go on under their shims. */
  killDaemon(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same socket and state; resolves when CRI is ready. */
  startDaemon(): Promise<void>;
  /** Stops and removes all pods, then everything else. Rejects if anything stays behind. */
  stop(): Promise<void>;
}

/** Options of a private containerd. */
export interface PrivateContainerdOptions {
  readonly systemdCgroup?: boolean;
  /** Size in MiB of a disk of its own for images and containers; needs missingForLoopDevices() to be empty. */
  readonly diskMegabytes?: number;
}

/** Starts one with BUSYBOX_IMAGE and PAUSE_IMAGE loaded. Rejects with the end of containerd's log. */
export async function startPrivateContainerd(
  installation: ContainerdInstallation,
  { systemdCgroup = false, diskMegabytes }: PrivateContainerdOptions = {},
): Promise<PrivateContainerd> {
  await sweepAbandoned();
  const folder = await mkdtemp(FOLDER_PREFIX);
  // Users of pods with ids of their own have to get to their root file system.
  await chmod(folder, 0o711);
  const tag = randomBytes(4).toString("hex");
  const state: PrivateState = {
    ownerPid: process.pid,
    daemonPid: 0,
    folder,
    socket: join(folder, "containerd.sock"),
    bridge: `rxlet${tag}`,
    cgroup: `/rxlet-test-${tag}`,
  };
  const daemon = new Daemon(installation, state);
  try {
    if (diskMegabytes !== undefined) await mountDisk(folder, diskMegabytes);
    const hostPorts = await configure(installation, state, systemdCgroup);
    await daemon.start();
    for (const image of await Promise.all([pauseImage(), busyboxImage()])) await daemon.importImage(image);
    return handleOf(daemon, state, hostPorts);
  } catch (thrown) {
    const log = daemon.logTail();
    await daemon.stop();
    throw new Error(`containerd did not start: ${(thrown as Error).message}\n${log}`, { cause: thrown });
  }
}

const handleOf = (daemon: Daemon, state: PrivateState, hostPorts: boolean): PrivateContainerd => ({
  endpoint: `unix://${state.socket}`,
  socket: state.socket,
  folder: state.folder,
  cgroupParent: state.cgroup,
  hostPorts,
  pid: () => daemon.pid,
  shims: () => shimsOf(state.socket),
  client: (options) => daemon.client(options),
  importImage: (image) => daemon.importImage(image),
  killDaemon: (signal) => daemon.kill(signal),
  startDaemon: () => daemon.start(),
  stop: () => daemon.stop(),
});

/** Mounts a file with a file system where containerd keeps its files. It goes with the unmount. */
async function mountDisk(folder: string, megabytes: number): Promise<void> {
  const [file, root] = [join(folder, "disk"), join(folder, "root")];
  await mkdir(root);
  await run("truncate", ["--size", `${megabytes}M`, file]);
  await run("mkfs.ext4", ["-q", "-m", "0", file]);
  await run("mount", ["-o", "loop", file, root]);
}

/** Writes the configuration; the result says whether pods get host ports. */
async function configure(
  installation: ContainerdInstallation,
  state: PrivateState,
  systemdCgroup: boolean,
): Promise<boolean> {
  const { folder, socket, bridge } = state;
  await mkdir(join(folder, "cni"));
  const hostPorts = hostPortsWork();
  const network = { bridge, subnet: freeSubnet(), leaseFolder: join(folder, "leases"), hostPorts };
  await writeFile(join(folder, "cni", "10-pods.conflist"), podNetworkConfig(network));
  const config = containerdToml({
    folder,
    socket,
    snapshotter: overlayWorks(folder) ? "overlayfs" : "native",
    pauseImage: PAUSE_IMAGE,
    runc: installation.runc,
    cniFolder: installation.cniFolder,
    systemdCgroup,
  });
  await writeFile(join(folder, "config.toml"), config);
  return hostPorts;
}

/** Tries it: file systems differ, and so do kernels inside containers. */
function overlayWorks(folder: string): boolean {
  const [lower, upper, work, merged] = ["lower", "upper", "work", "merged"].map((name) =>
    join(folder, "overlay-probe", name),
  );
  try {
    execFileSync("mkdir", ["-p", `${lower}`, `${upper}`, `${work}`, `${merged}`]);
    const options = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
    execFileSync("mount", ["-t", "overlay", "overlay", "-o", options, `${merged}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  } finally {
    unmountBelow(join(folder, "overlay-probe"));
  }
}

/** The process and its conversation partners. */
class Daemon {
  readonly #installation: ContainerdInstallation;
  readonly #clients = new Set<CriClient>();
  #state: PrivateState;
  #process: ChildProcess | undefined;

  constructor(installation: ContainerdInstallation, state: PrivateState) {
    this.#installation = installation;
    this.#state = state;
  }

  get pid(): number {
    return this.#state.daemonPid;
  }

  client(options: Partial<CriClientOptions> = {}): CriClient {
    const endpoint = `unix://${this.#state.socket}`;
    const client = createCriClient({ endpoint, clock: realClock, defaultDeadlineMs: 120_000, ...options });
    this.#clients.add(client);
    return client;
  }

  logTail(): string {
    try {
      return readFileSync(join(this.#state.folder, "containerd.log"), "utf8").slice(-4000);
    } catch {
      return "(no log)";
    }
  }

  async start(): Promise<void> {
    const { folder } = this.#state;
    const { containerd, programFolder } = this.#installation;
    const log = openSync(join(folder, "containerd.log"), "a");
    const child = spawn(containerd, ["--config", join(folder, "config.toml")], {
      stdio: ["ignore", log, log],
      env: { ...process.env, PATH: `${programFolder}:${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` },
    });
    closeSync(log);
    this.#process = child;
    const failed = new Promise<never>((_, reject) => child.once("error", reject));
    failed.catch(() => undefined);
    this.#state = { ...this.#state, daemonPid: child.pid ?? 0 };
    await writeFile(join(folder, STATE_FILE), JSON.stringify(this.#state));
    await Promise.race([failed, this.#ready(child)]);
  }

  async #ready(child: ChildProcess): Promise<void> {
    const client = this.client();
    await waitFor("containerd to be ready", async () => {
      if (hasEnded(child)) return true;
      const { status } = await firstValueFrom(client.runtime.status(StatusRequest.create(), { deadlineMs: 2_000 }));
      return (status?.conditions.length ?? 0) > 0 && status?.conditions.every((condition) => condition.status);
    });
    this.#close(client);
    if (hasEnded(child)) throw new Error(`it exited with ${child.exitCode ?? child.signalCode}`);
  }

  async importImage({ name, archive }: ImageArchive): Promise<void> {
    const { folder, socket } = this.#state;
    const file = join(folder, "import.tar");
    await writeFile(file, archive);
    // Not unpacked by ctr: CRI does it, with its own snapshotter, when the first container needs it.
    await run(this.#installation.ctr, ["-a", socket, "-n", "k8s.io", "images", "import", "--no-unpack", file]);
    const client = this.client();
    await waitFor(`CRI to know ${name}`, async () => {
      const request = ImageStatusRequest.create({ image: { image: name } });
      const { image } = await firstValueFrom(client.images.imageStatus(request));
      return image;
    });
    this.#close(client);
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#process;
    if (child === undefined || hasEnded(child)) return;
    child.kill(signal);
    await waitFor(`containerd to end on ${signal}`, () => hasEnded(child));
  }

  async stop(): Promise<void> {
    try {
      if (this.#process !== undefined && !hasEnded(this.#process)) {
        await this.#removePods();
        await this.kill("SIGTERM");
      }
    } catch {
      // A daemon that does not answer cannot remove its pods: cleanUp ends them, and says what it cannot end.
    }
    for (const client of this.#clients) this.#close(client);
    await cleanUp(this.#state);
  }

  async #removePods(): Promise<void> {
    const { runtime } = this.client({ defaultDeadlineMs: 10_000 });
    const { items } = await firstValueFrom(runtime.listPodSandbox(ListPodSandboxRequest.create()));
    await Promise.all(
      items.map(async ({ id }) => {
        await firstValueFrom(runtime.stopPodSandbox(StopPodSandboxRequest.create({ podSandboxId: id })));
        await firstValueFrom(runtime.removePodSandbox(RemovePodSandboxRequest.create({ podSandboxId: id })));
      }),
    );
    await waitFor("the shims to end", () => shimsOf(this.#state.socket).length === 0);
  }

  #close(client: CriClient): void {
    this.#clients.delete(client);
    client.close();
  }
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;
