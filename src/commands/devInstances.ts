/**
 * Registers a running `rxlet dev` for other commands of its user: one directory per instance, with its record and
 * credentials, below a directory that only this user can access. Bound: MAX_INSTANCES are read.
 */
import { createHash } from "node:crypto";
import { lstat, mkdtemp, readdir, readFile, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import os from "node:os";
import path from "node:path";
import {
  DEV_FILES,
  devDirectoryName,
  type DevInstance,
  type DevRecord,
  parseDevRecord,
} from "../core/dev/devInstance.ts";
import { kubeletError } from "../core/errors.ts";
import { errnoOf, ioError } from "../core/ioError.ts";
import { makeDirectories } from "../fileSystem/makeDirectories.ts";

/** Contents by file name, in addition to the record. */
export type DevFiles = Readonly<Record<string, string>>;

/** An instance that other commands find until `withdraw`. */
export interface AnnouncedDev {
  /** Directory of its files. */
  readonly directory: string;
  withdraw(): Promise<void>;
}

const MAX_INSTANCES = 64;
/** Timeout of a connection over loopback. */
const CONNECT_MS = 1_000;
const PRIVATE_DIRECTORY = 0o700;
const PRIVATE_FILE = 0o600;

const ownUid = (): number => process.getuid?.() ?? -1;

/** `$XDG_RUNTIME_DIR/rxlet`, or `rxlet-UID` in the directory for temporary files where that is not this user's. */
export async function sharedDirectory(): Promise<string> {
  const runtimeDir = process.env["XDG_RUNTIME_DIR"] ?? "";
  const found = path.isAbsolute(runtimeDir) ? await stat(runtimeDir).catch(() => undefined) : undefined;
  if (found?.isDirectory() === true && found.uid === ownUid()) return path.join(runtimeDir, "rxlet");
  return path.join(os.tmpdir(), `rxlet-${ownUid()}`);
}

/**
 * Returns whether only this user can write there: a directory of another user could direct commands to that user's
 * server.
 */
export async function isPrivate(directory: string): Promise<boolean> {
  const found = await lstat(directory).catch(() => undefined);
  return found?.isDirectory() === true && found.uid === ownUid() && (found.mode & 0o077) === 0;
}

/**
 * Writes the files and the record, so that all of them appear at once. The directory has the same name each time the
 * same manifests are run, so that a KUBECONFIG set once stays right. Rejects when the shared directory is not private.
 */
export async function announceDev(record: DevRecord, files: DevFiles): Promise<AnnouncedDev> {
  const shared = await sharedDirectory();
  await makeDirectories(shared, PRIVATE_DIRECTORY).catch((thrown: unknown) => {
    throw ioError("make", shared, thrown);
  });
  if (!(await isPrivate(shared))) {
    throw kubeletError("PermissionDenied", `${shared} is not a directory that only you can use`);
  }
  const draft = await mkdtemp(path.join(shared, ".new-"));
  try {
    await writePrivateFiles(draft, { ...files, [DEV_FILES.record]: `${JSON.stringify(record)}\n` });
    const digest = createHash("sha256").update(record.manifests).digest("hex");
    const directory = await placed(draft, path.join(shared, devDirectoryName(record.manifests, digest)), record.pid);
    return {
      directory,
      withdraw: async () => {
        await rm(directory, { recursive: true, force: true });
        // Fails while other instances have entries.
        await rmdir(shared).catch(() => undefined);
      },
    };
  } catch (thrown) {
    await rm(draft, { recursive: true, force: true });
    throw ioError("write", draft, thrown);
  }
}

/** Writes the files into a directory that only this user can access; creates a missing directory. */
export async function writePrivateFiles(directory: string, files: DevFiles): Promise<void> {
  await makeDirectories(directory, PRIVATE_DIRECTORY);
  for (const [name, text] of Object.entries(files)) {
    await writeFile(path.join(directory, name), text, { mode: PRIVATE_FILE });
  }
}

/** Renames the draft to `wanted`, or appends its PID while another running instance has that name. */
async function placed(draft: string, wanted: string, pid: number): Promise<string> {
  const previous = await readInstance(wanted);
  if (previous === undefined || !(await runs(previous))) await rm(wanted, { recursive: true, force: true });
  try {
    await rename(draft, wanted);
    return wanted;
  } catch (thrown) {
    if (!["ENOTEMPTY", "EEXIST"].includes(errnoOf(thrown))) throw thrown;
    const own = `${wanted}-${pid}`;
    await rename(draft, own);
    return own;
  }
}

/** Returns the running instances of this user, sorted by manifest directory. */
export async function runningDevs(): Promise<readonly DevInstance[]> {
  const shared = await sharedDirectory();
  if (!(await isPrivate(shared))) return [];
  const names = (await readdir(shared)).filter((name) => !name.startsWith(".")).sort();
  const found = await Promise.all(names.slice(0, MAX_INSTANCES).map((name) => readInstance(path.join(shared, name))));
  const alive = await Promise.all(found.map(async (each) => (each !== undefined && (await runs(each)) ? [each] : [])));
  return alive.flat().sort((a, b) => (a.manifests < b.manifests ? -1 : 1));
}

/** Returns the PID in the record of a directory; undefined without a record. */
export const devPidIn = async (directory: string): Promise<number | undefined> => (await readInstance(directory))?.pid;

async function readInstance(directory: string): Promise<DevInstance | undefined> {
  const text = await readFile(path.join(directory, DEV_FILES.record), "utf8").catch(() => "");
  const record = parseDevRecord(text);
  return record && { ...record, directory };
}

/** Returns whether the process exists and its port accepts connections, because another process may reuse the PID. */
async function runs({ pid, server }: DevRecord): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const { hostname, port } = new URL(server);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), timeout: CONNECT_MS });
    const settle = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", settle(true)).once("error", settle(false)).once("timeout", settle(false));
  });
}
