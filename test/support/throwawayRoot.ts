/**
 * The root directory of this machine with changes in memory alone: packages can be installed in it and programs run, and
 * nothing is left when it closes, or when this process ends. Needs root.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { findProgram } from "./findProgram.ts";
import { waitFor } from "./waitFor.ts";

const execute = promisify(execFile);
const PROGRAMS = ["unshare", "nsenter", "mount", "chroot"];
const PATH = "/usr/sbin:/usr/bin:/sbin:/bin";
const MAX_OUTPUT = 64 * 1024 * 1024;

/** Mounts, then lives as long as its input: a mount namespace goes with its last process. */
const HOLDER = `set -e
mount -t tmpfs -o mode=0755 rxlet "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" rxlet "$1/root"
for each in proc sys dev; do mount --rbind "/$each" "$1/root/$each"; done
mount -t tmpfs rxlet "$1/root/tmp"
mount -t tmpfs rxlet "$1/root/run"
echo ready
exec cat`;

export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
}

export interface ThrowawayRoot {
  /** Copies a file of the machine to a path below this root. */
  put(source: string, path: string): Promise<void>;
  /** Arguments of `nsenter` before a program that runs in this root, without the environment of the tests. */
  readonly enter: readonly string[];
  /** Runs a program in this root. Rejects when it fails. */
  run(program: string, ...args: readonly string[]): Promise<Ran>;
  close(): Promise<void>;
}

/** Lists what this machine lacks. */
export const missingForRoot = (): readonly string[] => [
  ...(process.getuid?.() === 0 ? [] : ["root"]),
  ...(existsSync("/proc/filesystems") ? [] : ["Linux"]),
  ...PROGRAMS.filter((program) => findProgram(program) === undefined),
];

/** Opens one. */
export async function openThrowawayRoot(): Promise<ThrowawayRoot> {
  const folder = await mkdtemp(join(tmpdir(), "rxlet-root-"));
  const place = join(folder, "mount");
  await mkdir(place);
  const holder = spawn("unshare", ["--mount", "--propagation", "private", "sh", "-c", HOLDER, "sh", place]);
  let said = "";
  for (const stream of [holder.stdout, holder.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const ended = once(holder, "exit");
  const close = async (): Promise<void> => {
    holder.stdin.end();
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  await waitFor("the root to be mounted", () => {
    if (holder.exitCode !== null) throw new Error(`cannot mount: ${said}`);
    return said.startsWith("ready");
  }).catch(async (error: unknown) => {
    await close();
    throw new Error(`${String(error)}\n${said}`);
  });
  const root = join(place, "root");
  const inside = ["--mount", `--target=${holder.pid}`];
  const enter = [...inside, "chroot", root, "/usr/bin/env", "-i", `PATH=${PATH}`, "HOME=/root", "TMPDIR=/tmp"];
  return {
    enter,
    put: async (source, path) => void (await execute("nsenter", [...inside, "cp", source, join(root, path)])),
    run: (program, ...args) => execute("nsenter", [...enter, program, ...args], { maxBuffer: MAX_OUTPUT }),
    close,
  };
}
