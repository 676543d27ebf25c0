/**
 * Inspects and creates paths on file systems served by a server or another process: hostPath and local volumes may be
 * on a dead NFS mount. Child processes do this, because a system call of our own would block one of Node's few file
 * threads until the server is back. Bounds: one process per action and path, MAX_PROGRAMS in total, 10 s each.
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
  /** The path of stat(1). */
  readonly program?: string;
  readonly readMounts?: () => Promise<readonly MountEntry[]>;
  readonly deadlineMs?: number;
}

/** The file at a path, links followed. */
export interface RemoteEntry {
  /** Type and permissions. */
  readonly mode: number;
  readonly gid: number;
}

/** A path that leads through a remote mount. All rejections are KubeletErrors. */
export interface RemotePath {
  readonly mount: MountEntry;
  /** Returns undefined for a missing file. */
  look(): Promise<RemoteEntry | undefined>;
  /** Creates the directory and its parents. */
  makeDirectory(mode: number): Promise<void>;
  /** Creates an empty file, following a link at the end; the mode has no executable bits. */
  createFile(mode: number): Promise<void>;
}

export interface RemoteFiles {
  /** Returns undefined for a path that cannot hang. */
  at(path: string): Promise<RemotePath | undefined>;
}

interface Action {
  readonly verb: "examine" | "make directory" | "make";
  readonly path: string;
  readonly program: string;
  readonly args: readonly string[];
}

/** Creates the port. Owns the running processes. */
export function createRemoteFiles({
  program = "stat",
  readMounts = readMountTable,
  deadlineMs = DEADLINE_MS,
}: RemoteFilesOptions = {}): RemoteFiles {
  /** Processes that have not exited, including those past their deadline. */
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
    // Only the deadline ends it, because other callers may share it.
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
    // stat(1) has one exit status for all errors; the C locale makes its text predictable.
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
