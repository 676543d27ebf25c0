/**
 * Resources that `rxlet dev` opens before its node runs: state directory, log, credentials, embedded runtime,
 * configuration.
 */
import { createWriteStream, type WriteStream } from "node:fs";
import { mkdtemp, readdir, realpath, rm, stat } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import type { DevBanner } from "../cli/devBanner.ts";
import type { DevOptions } from "../cli/subCommands.ts";
import { kubeconfigOf } from "../core/dev/devInstance.ts";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import { errnoOf, pathFault } from "../core/ioError.ts";
import { isIgnoredName } from "../core/pod/manifest/manifestFiles.ts";
import { formatInstant } from "../core/time/civilTime.ts";
import { systemClock } from "../sources/systemClock.ts";
import { type ClientFiles, createDevCredentials, credentialPaths } from "./devCredentials.ts";
import { type AnnouncedDev, announceDev, runningDevs, writePrivateFiles } from "./devInstances.ts";
import { devKubeletOptions, LOOPBACK } from "./devOptions.ts";
import { logTail } from "./logTail.ts";
import type { MachineRuntimePlace } from "./machineRuntime.ts";
import { createLogger } from "../sinks/logger.ts";
import { toOne } from "../sinks/logOutput.ts";
import { type DevRuntime, startDevRuntime } from "./devRuntime.ts";
import { programWords } from "./programWords.ts";
import { removeOwnTree } from "./removeOwnTree.ts";
import { makeDirectories } from "../fileSystem/makeDirectories.ts";

/** The default of `--read-only-port`. */
const DEFAULT_READ_ONLY_PORT = 10_255;
/** Examples by kind of runtime: the built-in one has the programs of the machine instead of images. */
const EXAMPLES = {
  embedded: fileURLToPath(new URL("../../examples/first-pods", import.meta.url)),
  containers: fileURLToPath(new URL("../../examples/container-pods", import.meta.url)),
};
/** Host names of the authenticated server. */
const SERVER_HOSTS = [LOOPBACK, "localhost"];

/** The open resources; `close` releases all of them. */
export interface DevSpace {
  readonly options: KubeletOptions;
  readonly runtime: DevRuntime;
  readonly log: WriteStream;
  readonly logFile: string;
  /** A hint for users who want to change pods through the API. */
  readonly writeHint: string;
  /** The read-only server listens on any free port if its port, which the user did not choose, is in use. */
  readonly mayMoveReadOnly: boolean;
  /** Hints about the runtime. */
  readonly notices: readonly string[];
  /** The banner before the node runs. */
  readonly banner: DevBanner;
  /** Registers the authenticated server at this port for other commands of this user; resolves with its kubeconfig. */
  announce(port: number): Promise<Pick<DevBanner, "kubeconfig">>;
  /** The lines of the banner about the read-only server at this port. */
  readOnlyAt(port: number): Pick<DevBanner, "readOnly" | "portInUse">;
  /** The last errors of the log; after a failure also warnings, and lines of the runtime. */
  lastErrors(hasFailed: boolean): Promise<readonly string[]>;
  close(): Promise<void>;
}

const LAST_ERRORS = 5;
const LAST_LINES = 10;
const isInformation = (line: string): boolean => /^I\d{4} /.test(line);
/** Error lines of klog's format. Problems of manifests were shown while they lasted. */
const isError = (line: string): boolean => /^[EF]\d{4} /.test(line) && !line.includes('"Manifest problem"');

/**
 * Opens all resources. Rejects with a KubeletError that names the one that cannot be opened. `onRestart` is called with
 * the end of a runtime that was replaced.
 */
export async function openDevSpace(dev: DevOptions, onRestart: (how: string) => void): Promise<DevSpace> {
  const manifests = path.resolve(dev.dir ?? EXAMPLES[dev.runtime === "embedded" ? "embedded" : "containers"]);
  const isEmpty = (await manifestNames(manifests)).length === 0;
  if (dev.rootDir === undefined) {
    const root = await mkdtemp(path.join(os.tmpdir(), "rxlet-"));
    return openSpaceIn({ dev, manifests, isEmpty, root, isTemporary: true, onRestart }).catch(
      async (thrown: unknown) => {
        await removeOwnTree(root);
        throw thrown;
      },
    );
  }
  const root = path.resolve(dev.rootDir);
  await makeDirectories(root, 0o700).catch((thrown: unknown) => {
    const why = errnoOf(thrown) === "EEXIST" ? "it is not a directory" : pathFault(thrown);
    throw kubeletError("Io", `--root-dir: ${root}: ${why}`, { cause: thrown });
  });
  return openSpaceIn({ dev, manifests, isEmpty, root, isTemporary: false, onRestart });
}

interface SpaceSetup {
  readonly dev: DevOptions;
  readonly manifests: string;
  readonly isEmpty: boolean;
  readonly root: string;
  readonly isTemporary: boolean;
  readonly onRestart: (how: string) => void;
}

async function openSpaceIn(setup: SpaceSetup): Promise<DevSpace> {
  const { dev, manifests, isEmpty, root, isTemporary } = setup;
  const logFile = path.join(root, "rxlet.log");
  const pki = path.join(root, "pki");
  const log = createWriteStream(logFile, { flags: "a" });
  const [clientFiles, { runtime, endpoint, notices }] = await bothOpen(
    createDevCredentials(pki, SERVER_HOSTS),
    openRuntime(setup, log, logFile),
  ).catch((thrown: unknown) => {
    log.destroy();
    throw thrown;
  });
  const places = { manifests, root, endpoint, credentials: credentialPaths(pki) };
  const options = await devKubeletOptions(dev, places).catch(async (thrown: unknown) => {
    await runtime.stop();
    throw thrown;
  });
  const banner: DevBanner = {
    program: programWords(),
    manifests,
    isEmpty,
    kubeconfig: undefined,
    readOnly: undefined,
    portInUse: undefined,
    twinPid: await twinOf(manifests),
    log: logFile,
  };
  let announced: AnnouncedDev | undefined;
  return {
    options,
    mayMoveReadOnly: dev.readOnlyPort === DEFAULT_READ_ONLY_PORT,
    banner,
    notices,
    runtime,
    log,
    logFile,
    writeHint: `this node runs the manifests of ${manifests}: add, edit or remove files there`,
    announce: async (port) => {
      announced = await announceAt(`https://${LOOPBACK}:${port}`, { root, manifests, clientFiles, log });
      runtime.inherit(announced.directory);
      return { kubeconfig: kubeconfigOf(announced) };
    },
    readOnlyAt: (port) => ({
      readOnly: `http://${LOOPBACK}:${port}`,
      portInUse: port === dev.readOnlyPort ? undefined : dev.readOnlyPort,
    }),
    lastErrors: (hasFailed) =>
      hasFailed ? logTail(logFile, LAST_LINES, (line) => !isInformation(line)) : logTail(logFile, LAST_ERRORS, isError),
    close: async () => {
      await announced?.withdraw();
      await runtime.stop();
      await new Promise<void>((resolve) => {
        log.end(() => resolve());
      });
      if (isTemporary) await removeOwnTree(root);
    },
  };
}

/** Returns the process of a running instance with the same manifests; undefined when there is none. */
async function twinOf(manifests: string): Promise<number | undefined> {
  const place = await realpath(manifests);
  return (await runningDevs()).find((each) => each.manifests === place)?.pid;
}

/** Returns the manifests at a path: names in a directory, or the path of a single file. */
async function manifestNames(place: string): Promise<readonly string[]> {
  try {
    const found = await stat(place);
    if (found.isDirectory()) return (await readdir(place)).filter((name) => !isIgnoredName(name));
    if (found.isFile()) return [place];
  } catch (thrown) {
    throw kubeletError("NotFound", `${place}: ${pathFault(thrown)}`, { cause: thrown });
  }
  throw kubeletError("InvalidArgument", `${place}: is neither a directory nor a file`);
}

/** A runtime with the URL of its socket. */
type OpenRuntime = Pick<MachineRuntimePlace, "runtime" | "endpoint" | "notices">;

/** Opens the runtime of the user's choice; that of the machine is loaded only then. */
async function openRuntime(
  { dev, root, isTemporary, onRestart }: SpaceSetup,
  output: WriteStream,
  logFile: string,
): Promise<OpenRuntime> {
  if (dev.runtime !== "embedded") {
    const { openMachineRuntime } = await import("./machineRuntime.ts");
    const wallTime = () => systemClock.wallTime();
    const log = createLogger({ format: "text", verbosity: dev.logLevel, wallTime, output: toOne(output) });
    return openMachineRuntime(dev.runtime, dev, root, log);
  }
  const socket = path.join(root, "runtime.sock");
  const place = { socket, stateDir: path.join(root, "runtime"), logFile };
  const runtime = await startDevRuntime(place, isTemporary ? [root] : [], onRestart);
  return { runtime, endpoint: `unix://${socket}`, notices: [] };
}

/** Awaits credentials and runtime, which start at the same time; a failure of the credentials ends the runtime. */
async function bothOpen(
  credentials: Promise<ClientFiles>,
  runtime: Promise<OpenRuntime>,
): Promise<readonly [ClientFiles, OpenRuntime]> {
  const [made, started] = await Promise.allSettled([credentials, runtime]);
  if (started.status === "rejected") throw started.reason;
  if (made.status === "fulfilled") return [made.value, started.value];
  await started.value.runtime.stop();
  throw made.reason;
}

interface Announcement {
  readonly root: string;
  readonly manifests: string;
  readonly clientFiles: ClientFiles;
  readonly log: WriteStream;
}

/**
 * Registers the instance for other commands. If that fails, writes the client's files below the root directory only.
 */
async function announceAt(server: string, { root, manifests, clientFiles, log }: Announcement): Promise<AnnouncedDev> {
  const startedAt = formatInstant(systemClock.wallTime());
  const record = { pid: process.pid, manifests: await realpath(manifests), server, startedAt };
  const files = clientFiles(server);
  return announceDev(record, files).catch(async (thrown: unknown) => {
    log.write(`Other rxlet commands cannot find this rxlet dev: ${toKubeletError(thrown).message}\n`);
    const directory = path.join(root, "access");
    await writePrivateFiles(directory, files);
    return { directory, withdraw: () => rm(directory, { recursive: true, force: true }) };
  });
}
