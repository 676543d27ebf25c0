/** Access to a container runtime for the conformance suite; pods created by a test are removed after it. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { firstValueFrom } from "rxjs";
import type { Observable } from "rxjs";
import { isKubeletError } from "../../src/core/errors.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import * as cri from "../../src/gen/cri.ts";
import type { ImageService, RuntimeService } from "../../src/ports/cri.ts";
import { waitFor } from "../support/waitFor.ts";

/** Command lines with a known behaviour, in the words of the runtime under test. */
export interface Programs {
  /** Ends at once. */
  exits(code: number): readonly string[];
  /** Runs until SIGTERM, then ends with this code within a moment. */
  runsUntilTerm(code: number): readonly string[];
  /** Runs until SIGKILL. */
  ignoresTerm(): readonly string[];
  /** Writes one line to stdout and one to stderr, then ends with code 0. */
  prints(stdout: string, stderr: string): readonly string[];
  /** Prints its line to stdout again and again, some ten times a second. */
  printsForever(line: string): readonly string[];
  /** Prints `$name`, then the working directory, to stdout. */
  printsEnvironment(name: string): readonly string[];
  /** No such program exists. */
  missing(): readonly string[];
}

/** Optional runtime features; the suite asserts that the runtime refuses unsupported ones. */
export interface RuntimeFeatures {
  /** GetContainerEvents; else it answers Unimplemented. */
  readonly containerEvents: boolean;
  /** RuntimeConfig; else it answers Unimplemented. */
  readonly runtimeConfig: boolean;
  /** ExecSync runs commands. */
  readonly exec: boolean;
  /** Log files are written below `logRoot`, and output is real. */
  readonly logs: boolean;
  /** Format of these files, CRI's by default; Docker also rotates them itself, and refuses ReopenContainerLog. */
  readonly logFormat?: "docker";
  /** Host directories appear inside the container. */
  readonly mounts: boolean;
}

/** A running container runtime. */
export interface RuntimeFixture {
  readonly port: { readonly runtime: RuntimeService; readonly images: ImageService };
  /** Present; containers are made from it. */
  readonly image: string;
  /** Prefix of a shell command line, for example `["/bin/sh", "-c"]`. */
  readonly shell: readonly string[];
  /** Programs instead of shell scripts, for runtimes without a shell. */
  readonly programs?: Programs;
  /** Existing directory of this machine for logs and mounts. */
  readonly logRoot: string;
  readonly cgroupParent?: string;
  readonly features: RuntimeFeatures;
  close(): Promise<void>;
}

/** The programs as scripts for a POSIX shell. */
export function shellPrograms(shell: readonly string[]): Programs {
  const script = (text: string): readonly string[] => [...shell, text];
  return {
    exits: (code) => script(`exit ${code}`),
    runsUntilTerm: (code) => script(`trap 'exit ${code}' TERM; echo ready; while :; do sleep 0.05; done`),
    ignoresTerm: () => script("trap '' TERM; echo ready; while :; do sleep 0.05; done"),
    prints: (stdout, stderr) => script(`echo '${stdout}'; echo '${stderr}' >&2`),
    printsForever: (line) => script(`trap 'exit 0' TERM; while :; do echo '${line}'; sleep 0.1; done`),
    printsEnvironment: (name) => script(`echo "$${name}"; pwd`),
    missing: () => ["/no/such/program"],
  };
}

/** How a call ended: its value, or the code of its error. */
export type Ending<T> = { readonly value: T } | { readonly error: ErrorCode };

/** Runs a call to its end; anything but a KubeletError is a bug of the adapter. */
export async function ending<T>(call: Observable<T>): Promise<Ending<T>> {
  try {
    return { value: await firstValueFrom(call) };
  } catch (thrown) {
    if (!isKubeletError(thrown)) throw thrown;
    return { error: thrown.code };
  }
}

/** A sandbox as made by `RuntimeUnderTest.sandbox`. */
export interface TestSandbox {
  readonly id: string;
  readonly config: cri.PodSandboxConfig;
}

type ContainerOptions = Parameters<typeof cri.ContainerConfig.create>[0];
type SandboxOptions = Parameters<typeof cri.PodSandboxConfig.create>[0];

/** The runtime, and everything made on it in one test. */
export class RuntimeUnderTest {
  readonly fixture: RuntimeFixture;
  readonly programs: Programs;
  readonly #run = `${process.pid}-${Math.random().toString(36).slice(2, 8)}`;
  #sandboxes: readonly string[] = [];
  #count = 0;

  constructor(fixture: RuntimeFixture) {
    this.fixture = fixture;
    this.programs = fixture.programs ?? shellPrograms(fixture.shell);
  }

  get runtime(): RuntimeService {
    return this.fixture.port.runtime;
  }

  get images(): ImageService {
    return this.fixture.port.images;
  }

  /** A name no other test uses. */
  fresh(prefix: string): string {
    this.#count += 1;
    return `${prefix}-${this.#run}-${this.#count}`;
  }

  async sandbox(options: SandboxOptions = {}): Promise<TestSandbox> {
    const name = this.fresh("pod");
    const { cgroupParent, logRoot } = this.fixture;
    const config = cri.PodSandboxConfig.create({
      metadata: { name, uid: `${name}-uid`, namespace: "conformance", attempt: 0 },
      logDirectory: join(logRoot, name),
      ...(cgroupParent === undefined ? {} : { linux: { cgroupParent: join(cgroupParent, name) } }),
      ...options,
    });
    const { podSandboxId: id } = await firstValueFrom(
      this.runtime.runPodSandbox(cri.RunPodSandboxRequest.create({ config })),
    );
    this.#sandboxes = [...this.#sandboxes, id];
    return { id, config };
  }

  /** Creates a container, not started; its name is fresh unless given. */
  async create(sandbox: TestSandbox, command: readonly string[], options: ContainerOptions = {}): Promise<string> {
    const config = cri.ContainerConfig.create({
      metadata: { name: this.fresh("main"), attempt: 0 },
      image: { image: this.fixture.image },
      command,
      ...(this.fixture.cgroupParent === undefined ? {} : { linux: {} }),
      ...options,
    });
    const request = cri.CreateContainerRequest.create({
      podSandboxId: sandbox.id,
      config,
      sandboxConfig: sandbox.config,
    });
    return (await firstValueFrom(this.runtime.createContainer(request))).containerId;
  }

  async start(containerId: string): Promise<void> {
    await firstValueFrom(this.runtime.startContainer(cri.StartContainerRequest.create({ containerId })));
  }

  /** Creates and starts. */
  async run(sandbox: TestSandbox, command: readonly string[], options: ContainerOptions = {}): Promise<string> {
    const id = await this.create(sandbox, command, options);
    await this.start(id);
    return id;
  }

  /** Creates and starts a program that handles SIGTERM, and waits until it does: before, the signal would end it. */
  async runHandling(sandbox: TestSandbox, command: readonly string[]): Promise<string> {
    if (!this.fixture.features.logs) return this.run(sandbox, command);
    const logPath = `${this.fresh("ready")}.log`;
    const id = await this.run(sandbox, command, { logPath });
    await this.logLines(join(sandbox.config.logDirectory, logPath), 1);
    return id;
  }

  stopContainer(containerId: string, timeoutSeconds: number): Promise<Ending<cri.StopContainerResponse>> {
    const timeout = BigInt(timeoutSeconds);
    return ending(this.runtime.stopContainer(cri.StopContainerRequest.create({ containerId, timeout })));
  }

  removeContainer(containerId: string): Promise<Ending<cri.RemoveContainerResponse>> {
    return ending(this.runtime.removeContainer(cri.RemoveContainerRequest.create({ containerId })));
  }

  stopSandbox(podSandboxId: string): Promise<Ending<cri.StopPodSandboxResponse>> {
    return ending(this.runtime.stopPodSandbox(cri.StopPodSandboxRequest.create({ podSandboxId })));
  }

  removeSandbox(podSandboxId: string): Promise<Ending<cri.RemovePodSandboxResponse>> {
    return ending(this.runtime.removePodSandbox(cri.RemovePodSandboxRequest.create({ podSandboxId })));
  }

  async status(containerId: string): Promise<cri.ContainerStatus> {
    const request = cri.ContainerStatusRequest.create({ containerId });
    const { status } = await firstValueFrom(this.runtime.containerStatus(request));
    if (status === undefined) throw new Error(`ContainerStatus of ${containerId} has no status`);
    return status;
  }

  async sandboxStatus(podSandboxId: string): Promise<cri.PodSandboxStatus> {
    const request = cri.PodSandboxStatusRequest.create({ podSandboxId });
    const { status } = await firstValueFrom(this.runtime.podSandboxStatus(request));
    if (status === undefined) throw new Error(`PodSandboxStatus of ${podSandboxId} has no status`);
    return status;
  }

  /** The status once the container has exited. */
  exited(containerId: string): Promise<cri.ContainerStatus> {
    return waitFor(`${containerId} to exit`, async () => {
      const status = await this.status(containerId);
      return status.state === cri.ContainerState.CONTAINER_EXITED && status;
    });
  }

  /** Ids, sorted. */
  async listContainers(filter: Parameters<typeof cri.ContainerFilter.create>[0]): Promise<readonly string[]> {
    const request = cri.ListContainersRequest.create({ filter: filter ?? {} });
    const { containers } = await firstValueFrom(this.runtime.listContainers(request));
    return containers.map((container) => container.id).sort();
  }

  /** Ids, sorted. */
  async listSandboxes(filter: Parameters<typeof cri.PodSandboxFilter.create>[0]): Promise<readonly string[]> {
    const request = cri.ListPodSandboxRequest.create({ filter: filter ?? {} });
    const { items } = await firstValueFrom(this.runtime.listPodSandbox(request));
    return items.map((item) => item.id).sort();
  }

  execSync(containerId: string, cmd: readonly string[], timeoutSeconds = 0): Observable<cri.ExecSyncResponse> {
    const timeout = BigInt(timeoutSeconds);
    return this.runtime.execSync(cri.ExecSyncRequest.create({ containerId, cmd, timeout }));
  }

  /** Lines of a log file, once there are at least `count`. */
  logLines(path: string, count: number): Promise<readonly string[]> {
    return waitFor(`${count} lines in ${path}`, async () => {
      const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
      return lines.length >= count && lines;
    });
  }

  /** Removes what the test made. */
  async cleanUp(): Promise<void> {
    const sandboxes = this.#sandboxes;
    this.#sandboxes = [];
    await Promise.all(
      sandboxes.map(async (id) => {
        await this.stopSandbox(id);
        await this.removeSandbox(id);
      }),
    );
  }
}
