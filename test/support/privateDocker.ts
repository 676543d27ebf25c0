/**
 * A Docker of a test's own: a dockerd and the containerd under it, with root, state, sockets, bridge and cgroups that
 * are private and gone after `stop`. A daemon whose test process was killed is cleaned up by the next one started.
 */
import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "undici";
import type { DockerInstallation } from "./dockerInstallation.ts";
import { freeSubnet } from "./freeSubnet.ts";
import { busyboxImage, pauseImage } from "./images.ts";
import type { ImageArchive } from "./images.ts";
import { shimsOf } from "./kernelState.ts";
import { FOLDER_PREFIX, STATE_FILE, cleanUp, sweepAbandoned } from "./privateContainerdCleanUp.ts";
import type { PrivateState } from "./privateContainerdCleanUp.ts";
import { waitFor } from "./waitFor.ts";

const run = promisify(execFile);

/** Docker before 23 writes this file without being asked, to no other place. */
const TRUST_KEY = "/etc/docker/key.json";

/** A running Docker. */
export interface PrivateDocker {
  /** `unix://` and the socket. */
  readonly endpoint: string;
  readonly socket: string;
  /** Directory of all its files; logs and states of shims may be put here, and go with `stop`. */
  readonly folder: string;
  /** Every sandbox has to name a cgroup at or below this one as its parent. */
  readonly cgroupParent: string;
  /** Process id of the current dockerd. */
  pid(): number;
  /** Shims of containerd alive now: one per running container. */
  shims(): readonly number[];
  /** A request past the shim, for example `POST /containers/x/kill`; resolves with status and body. */
  request(method: "GET" | "POST" | "DELETE", path: string): Promise<{ readonly status: number; readonly body: string }>;
  loadImage(image: ImageArchive): Promise<void>;
  /** Ends dockerd alone; containers go on under their shims. */
  killDaemon(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same socket and state; resolves when it answers. Without `liveRestore` it ends with its containers. */
  startDaemon(how?: { readonly liveRestore: boolean }): Promise<void>;
  /** Ends everything. Rejects if anything stays behind. */
  stop(): Promise<void>;
}

/** Starts one with BUSYBOX_IMAGE and PAUSE_IMAGE loaded. Rejects with the end of the daemons' logs. */
export async function startPrivateDocker(installation: DockerInstallation): Promise<PrivateDocker> {
  await sweepAbandoned();
  const folder = await mkdtemp(FOLDER_PREFIX);
  await chmod(folder, 0o711);
  const tag = randomBytes(4).toString("hex");
  const docker = new Docker(installation, {
    ownerPid: process.pid,
    daemonPid: 0,
    folder,
    socket: join(folder, "containerd.sock"),
    bridge: `rxlet${tag}`,
    cgroup: `/rxlet-test-${tag}`,
  });
  try {
    await docker.startAll();
    for (const image of await Promise.all([pauseImage(), busyboxImage()])) await docker.loadImage(image);
    return docker;
  } catch (thrown) {
    const log = docker.logTail();
    await docker.stop();
    throw new Error(`Docker did not start: ${(thrown as Error).message}\n${log}`, { cause: thrown });
  }
}

class Docker implements PrivateDocker {
  readonly #installation: DockerInstallation;
  #state: PrivateState;
  #containerd: ChildProcess | undefined;
  #dockerd: ChildProcess | undefined;

  constructor(installation: DockerInstallation, state: PrivateState) {
    this.#installation = installation;
    this.#state = state;
  }

  get endpoint(): string {
    return `unix://${this.socket}`;
  }

  get socket(): string {
    return join(this.folder, "docker.sock");
  }

  get folder(): string {
    return this.#state.folder;
  }

  get cgroupParent(): string {
    return this.#state.cgroup;
  }

  pid(): number {
    return this.#state.userPid ?? 0;
  }

  shims(): readonly number[] {
    return shimsOf(this.#state.socket);
  }

  async startAll(): Promise<void> {
    const { folder, socket, bridge } = this.#state;
    await run("ip", ["link", "add", bridge, "type", "bridge"]);
    await run("ip", ["address", "add", freeSubnet().replace(/\.0\//, ".1/"), "dev", bridge]);
    await run("ip", ["link", "set", bridge, "up"]);
    await writeFile(
      join(folder, "containerd.toml"),
      `version = 2
root = ${JSON.stringify(join(folder, "containerd"))}
state = ${JSON.stringify(join(folder, "state"))}
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.internal.v1.opt"]

[grpc]
  address = ${JSON.stringify(socket)}
`,
    );
    await mkdir(join(folder, "containerd"));
    this.#containerd = this.#spawn(this.#installation.containerd, ["--config", join(folder, "containerd.toml")]);
    this.#state = { ...this.#state, daemonPid: this.#containerd.pid ?? 0 };
    await this.#record();
    await this.startDaemon();
  }

  async startDaemon({ liveRestore } = { liveRestore: true }): Promise<void> {
    const { folder, socket, bridge, cgroup } = this.#state;
    const hadKey = existsSync(TRUST_KEY);
    const child = this.#spawn(this.#installation.dockerd, [
      `--config-file=${join(folder, "daemon.json")}`,
      `--host=unix://${this.socket}`,
      `--data-root=${join(folder, "root")}`,
      `--exec-root=${join(folder, "exec")}`,
      `--pidfile=${join(folder, "docker.pid")}`,
      `--containerd=${socket}`,
      `--bridge=${bridge}`,
      `--cgroup-parent=${cgroup}`,
      "--group=root",
      "--iptables=false",
      "--ip6tables=false",
      "--ip-forward=false",
      "--ip-masq=false",
      `--live-restore=${liveRestore}`,
    ]);
    await writeFile(join(folder, "daemon.json"), "{}");
    this.#dockerd = child;
    this.#state = { ...this.#state, userPid: child.pid ?? 0 };
    await this.#record();
    await waitFor("Docker to answer", async () => {
      if (hasEnded(child)) return true;
      return (await this.request("GET", "/_ping")).status === 200;
    });
    if (!hadKey) await rm(TRUST_KEY, { force: true });
    if (hasEnded(child)) throw new Error(`dockerd exited with ${child.exitCode ?? child.signalCode}`);
  }

  async request(method: "GET" | "POST" | "DELETE", path: string, body?: Buffer) {
    const client = new Client("http://docker", { socketPath: this.socket });
    try {
      const headers = body === undefined ? {} : { "content-type": "application/x-tar" };
      const answer = await client.request({ method, path, headers, body: body ?? null });
      return { status: answer.statusCode, body: await answer.body.text() };
    } finally {
      await client.destroy();
    }
  }

  async loadImage({ name, archive }: ImageArchive): Promise<void> {
    const { status, body } = await this.request("POST", "/images/load?quiet=1", archive);
    if (status !== 200) throw new Error(`${name} cannot be loaded: ${body}`);
  }

  async killDaemon(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#dockerd;
    if (child === undefined || hasEnded(child)) return;
    child.kill(signal);
    await waitFor(`dockerd to end on ${signal}`, () => hasEnded(child));
  }

  logTail(): string {
    try {
      return readFileSync(join(this.folder, "daemons.log"), "utf8").slice(-6000);
    } catch {
      return "(no log)";
    }
  }

  /** Containers are killed by `cleanUp`, which also says what it cannot end. */
  async stop(): Promise<void> {
    await this.killDaemon("SIGTERM").catch(() => undefined);
    this.#containerd?.kill("SIGTERM");
    await cleanUp(this.#state);
  }

  #spawn(program: string, args: readonly string[]): ChildProcess {
    const log = openSync(join(this.folder, "daemons.log"), "a");
    const child = spawn(program, args, {
      stdio: ["ignore", log, log],
      env: { ...process.env, PATH: `${this.#installation.programFolder}:${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` },
    });
    child.on("error", () => undefined);
    closeSync(log);
    return child;
  }

  #record(): Promise<void> {
    return writeFile(join(this.folder, STATE_FILE), JSON.stringify(this.#state));
  }
}

const hasEnded = (child: ChildProcess): boolean =>
  child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
