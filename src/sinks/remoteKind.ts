/**
 * Tells what is at a path whose file system a server or another process answers for, or does not: hostPath and local
 * volumes may be on a dead NFS mount. A process looks, since a look of our own would hold one of the few threads that Node
 * has for files until the server is back. Bounds: one process for each path, MAX_LOOKS in all, left behind after 10 s.
 */
import * as fs from "node:fs/promises";
import { errnoOf } from "../core/ioError.ts";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import { isRemote, type MountEntry } from "../core/mount/mountInfo.ts";
import { readMountTable } from "./mounts/mountTable.ts";
import { runTool } from "./mounts/mountTool.ts";

const DEADLINE_MS = 10_000;
const MAX_LOOKS = 16;
const MAX_LINKS = 40;

export interface RemoteKindOptions {
  /** stat(1). */
  readonly program?: string;
  readonly readMounts?: () => Promise<readonly MountEntry[]>;
  readonly deadlineMs?: number;
}

/** Makes the look: the mode of what is there, undefined when nothing is, or `local` for a path that cannot hang. */
export function createRemoteKind({
  program = "stat",
  readMounts = readMountTable,
  deadlineMs = DEADLINE_MS,
}: RemoteKindOptions = {}): (path: string) => Promise<number | "local" | undefined> {
  const looks = new Set<string>();
  const ask = async (path: string): Promise<number | undefined> => {
    const busy = looks.has(path) ? "an earlier look has not come back" : `${MAX_LOOKS} other looks have not come back`;
    if (looks.has(path) || looks.size >= MAX_LOOKS)
      throw kubeletError("Unavailable", `cannot examine ${path}: ${busy}`);
    looks.add(path);
    const signal = AbortSignal.timeout(deadlineMs);
    const args = ["-L", "-c", "%f", "--", path];
    const tool = { program, args, what: `examine ${path}`, statuses: "all" as const, signal };
    try {
      const { status, said } = await runTool({ ...tool, whenEnded: () => looks.delete(path) });
      if (status === 0) return Number.parseInt(said.trim(), 16);
      // stat(1) has one exit status for everything; it speaks the C locale.
      if (said.includes("No such file or directory")) return undefined;
      throw kubeletError("Io", `cannot examine ${path}: ${said.trim()}`);
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
      const why = `cannot examine ${path}: its file system does not answer within ${deadlineMs} ms`;
      throw kubeletError("DeadlineExceeded", why, { cause: toKubeletError(thrown) });
    }
  };
  return async (path) => {
    const remote = (await readMounts().catch(() => [])).filter(isRemote).map(({ mountPoint }) => mountPoint);
    if (remote.length === 0 || !(await leadsTo(path, new Set(remote)))) return "local";
    return ask(path);
  };
}

/** Whether a path leads through one of the mount points. Follows links, and looks at nothing in or below those. */
async function leadsTo(path: string, mountPoints: ReadonlySet<string>): Promise<boolean> {
  let left = path.split("/");
  let here: readonly string[] = [];
  for (let links = 0; left.length > 0 && links <= MAX_LINKS; ) {
    const [name = "", ...rest] = left;
    left = rest;
    if (name === "" || name === ".") continue;
    if (name === "..") {
      here = here.slice(0, -1);
      continue;
    }
    const place = `/${[...here, name].join("/")}`;
    if (mountPoints.has(place)) return true;
    const target = await linkTarget(place);
    if (target === "nothing") return false;
    if (target === "no link") {
      here = [...here, name];
      continue;
    }
    links += 1;
    if (target.to.startsWith("/")) here = [];
    left = [...target.to.split("/"), ...rest];
  }
  return false;
}

async function linkTarget(path: string): Promise<{ readonly to: string } | "no link" | "nothing"> {
  try {
    return { to: await fs.readlink(path) };
  } catch (thrown) {
    return errnoOf(thrown) === "EINVAL" ? "no link" : "nothing";
  }
}
