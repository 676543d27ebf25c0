/**
 * What is at a path whose file system a server or another process answers for, or does not: hostPath and local volumes may
 * be on a dead NFS mount. Programs look and make, since a system call of our own would hold one of the few threads that Node
 * has for files until the server is back. Bounds: one program per action and path, MAX_PROGRAMS in all, given up after 10 s.
 */
import { type KubeletError, kubeletError } from "../../core/errors.ts";
import type { MountEntry } from "../../core/mount/mountInfo.ts";
import { readMountTable } from "../mounts/mountTable.ts";
import { runTool, type ToolEnd } from "../mounts/mountTool.ts";
import { remoteMountOf } from "./followLinks.ts";

const DEADLINE_MS = 10_000;
const MAX_PROGRAMS = 16;
const PERMISSIONS = 0o777;

export interface RemoteFilesOptions {
  /** stat(1). */
  readonly program?: string;
  readonly readMounts?: () => Promise<readonly MountEntry[]>;
  readonly deadlineMs?: number;
}

/** What is found at a path, links followed. */
export interface RemoteEntry {
  /** Type and permissions. */
  readonly mode: number;
  readonly gid: number;
}

/** A path that leads through a remote mount. All rejections are KubeletErrors. */
export interface RemotePath {
  readonly mount: MountEntry;
  /** undefined when nothing is there. */
  look(): Promise<RemoteEntry | undefined>;
  /** Makes the directory and its parents. */
  makeDirectory(mode: number): Promise<void>;
  /** Makes an empty file, a link at the end followed; the mode has no executable bits. */
  createFile(mode: number): Promise<void>;
}

export interface RemoteFiles {
  /** undefined for a path that cannot hang. */
  at(path: string): Promise<RemotePath | undefined>;
}

interface Action {
  readonly verb: "examine" | "make directory" | "make";
  readonly path: string;
  readonly program: string;
  readonly args: readonly string[];
}

/** Owns the programs that run. */
export function createRemoteFiles({
  program = "stat",
  readMounts = readMountTable,
  deadlineMs = DEADLINE_MS,
}: RemoteFilesOptions = {}): RemoteFiles {
  /** Programs that have not ended: also those that were given up. */
  const running = new Map<string, Promise<ToolEnd>>();
  const run = (action: Action): Promise<ToolEnd> => {
    const { verb, path, ...command } = action;
    const key = `${verb} ${path}`;
    const known = running.get(key);
    if (known !== undefined) return known;
    if (running.size >= MAX_PROGRAMS) {
      const why = `${MAX_PROGRAMS} other looks have not come back`;
      return Promise.reject<ToolEnd>(kubeletError("Unavailable", `cannot ${key}: ${why}`));
    }
    const whenEnded = (): void => void running.delete(key);
    // The deadline alone ends it: others may share it.
    const { signal } = new AbortController();
    const started = runTool({ ...command, what: key, statuses: "all", deadlineMs, signal, whenEnded });
    running.set(key, started);
    return started;
  };
  const look = async (path: string): Promise<RemoteEntry | undefined> => {
    const action = { verb: "examine", path, program, args: ["-L", "-c", "%f %g", "--", path] } as const;
    const end = await run(action);
    const [, mode = "", gid = ""] = /^([0-9a-f]+) (\d+)$/.exec(end.said.trim()) ?? [];
    if (end.status === 0 && mode !== "") return { mode: Number.parseInt(mode, 16), gid: Number(gid) };
    // stat(1) has one exit status for everything; it speaks the C locale.
    if (end.said.includes("No such file or directory")) return undefined;
    throw failed(action, end);
  };
  const make = async (action: Action): Promise<void> => {
    const end = await run(action);
    if (end.status !== 0) throw failed(action, end);
  };
  return {
    async at(path) {
      const mount = await remoteMountOf(path, await readMounts().catch(() => []));
      if (mount === undefined) return undefined;
      return {
        mount,
        look: () => look(path),
        makeDirectory: (mode) =>
          make({ verb: "make directory", path, program: "mkdir", args: ["-p", "-m", octal(mode), "--", path] }),
        createFile: (mode) => {
          const script = `umask ${octal(PERMISSIONS & ~mode)} && exec touch -- "$1"`;
          return make({ verb: "make", path, program: "sh", args: ["-c", script, "sh", path] });
        },
      };
    },
  };
}

const octal = (mode: number): string => mode.toString(8).padStart(4, "0");

const failed = ({ verb, path }: Action, { said, status }: ToolEnd): KubeletError =>
  kubeletError("Io", `cannot ${verb} ${path}: ${said.trim() || `exit status ${status}`}`);
