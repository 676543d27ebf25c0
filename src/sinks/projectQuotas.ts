/**
 * The Quotas port on xfs_quota(8), for xfs and ext4. Owns the lines of volumes in /etc/projects and /etc/projid,
 * which identify the volumes after a restart. Bounds: one change at a time; 10 s each.
 */
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import { errnoOf } from "../core/ioError.ts";
import { type MountEntry, mountHolding } from "../core/mount/mountInfo.ts";
import {
  freeProjects,
  type ProjectFiles,
  projectOf,
  withoutProjects,
  withProject,
} from "../core/quota/projectFiles.ts";
import {
  assignCommands,
  clearCommand,
  isCounting,
  mayCount,
  mountLine,
  quotaArgs,
  STATE,
  usageCommands,
  usageOf,
} from "../core/quota/xfsQuota.ts";
import { createSemaphore } from "../operators/semaphore.ts";
import type { Clock } from "../ports/clock.ts";
import type { Quotas } from "../ports/quotas.ts";
import type { Logger } from "../ports/telemetry.ts";
import { readMountTable } from "./mounts/mountTable.ts";
import { boundedCall, runTool } from "./mounts/mountTool.ts";

const QUOTA_MS = 10_000;
const FILE_MODE = 0o644;

export interface ProjectQuotasOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Directory of `projects` and `projid`. Default: /etc. */
  readonly etcDir?: string;
  /** Reads the mounts. Default: those of this process. */
  readonly readMounts?: () => Promise<readonly MountEntry[]>;
  /** Runs xfs_quota(8) commands on a file system. Default: that program. */
  readonly ask?: AskTool;
}

type AskTool = (mount: MountEntry, commands: readonly string[], signal: AbortSignal) => Promise<string>;

/** Assigned quotas, kept while the kubelet runs. */
interface Assigned {
  readonly id: number;
  readonly mount: MountEntry;
}

type Ask = (mount: MountEntry, ...commands: readonly string[]) => Promise<string>;

/** Creates the port. */
export function createProjectQuotas(options: ProjectQuotasOptions): Quotas {
  const { clock, log, etcDir = "/etc", readMounts = readMountTable, ask: askTool = askXfsQuota } = options;
  const assigned = new Map<string, Assigned>();
  const turns = createSemaphore(1);
  const paths = { projects: join(etcDir, "projects"), projid: join(etcDir, "projid") };
  const call = <T>(what: string, effect: (ask: Ask) => Promise<T>) =>
    turns.run(boundedCall(what, QUOTA_MS, clock, (signal) => effect((mount, ...all) => askTool(mount, all, signal))));

  const assign = async (directory: string, ask: Ask): Promise<boolean> => {
    const mount = mountHolding(await readMounts(), await fs.realpath(directory));
    if (mount === undefined || !mayCount(mount) || !isCounting(await ask(mount, STATE))) return false;
    const files = await readFiles(paths);
    const known = projectOf(files, directory);
    const id = known ?? (await firstUnused(freeProjects(files), mount, ask));
    if (known === undefined) await writeFiles(paths, withProject(files, directory, id), files);
    await ask(mount, ...assignCommands(directory, id, mount));
    assigned.set(directory, { id, mount });
    return true;
  };
  const clear = async (top: string, ask: Ask): Promise<void> => {
    const files = await readFiles(paths);
    const { left, gone } = withoutProjects(files, top);
    if (gone.length === 0) return;
    const mount = mountHolding(await readMounts(), await fs.realpath(top).catch(() => top));
    for (const { id, directory } of gone) {
      assigned.delete(directory);
      // A limit that stays behind affects no pod.
      if (mount !== undefined) await ask(mount, clearCommand(id)).catch(() => {});
    }
    await writeFiles(paths, left, files);
  };
  return {
    assign: (directory) =>
      call(`assign a project quota to ${directory}`, (ask) =>
        assign(directory, ask).catch((thrown: unknown) => {
          log.debug("projectQuotas", "Counting a volume file by file", {
            directory,
            why: toKubeletError(thrown).message,
          });
          return false;
        }),
      ),
    usage: (directory) =>
      call(`ask the project quota of ${directory}`, async (ask) => {
        const found = assigned.get(directory);
        if (found === undefined) return undefined;
        const said = await ask(found.mount, ...usageCommands(found.id));
        const used = usageOf(said);
        if (used === undefined) throw kubeletError("Io", `unable to parse quota output '${said}'`);
        return used;
      }),
    clear: (directory) => call(`forget the project quotas of ${directory}`, (ask) => clear(directory, ask)),
  };
}

async function askXfsQuota(mount: MountEntry, commands: readonly string[], signal: AbortSignal): Promise<string> {
  const folder = await fs.mkdtemp(join(tmpdir(), "rxlet-mounts-"));
  try {
    const file = join(folder, "mounts");
    await fs.writeFile(file, mountLine(mount));
    const args = quotaArgs(file, mount.mountPoint, ...commands);
    return (await runTool({ program: "xfs_quota", args, what: `ask ${mount.mountPoint} for quotas`, signal })).said;
  } finally {
    await fs.rm(folder, { recursive: true });
  }
}

/** Returns the first id without files on the file system. */
async function firstUnused(ids: readonly number[], mount: MountEntry, ask: Ask): Promise<number> {
  for (const id of ids) {
    const used = usageOf(await ask(mount, ...usageCommands(id)));
    if (used?.bytes === 0n && used.inodes === 0n) return id;
  }
  throw kubeletError("ResourceExhausted", "cannot find available quota ID");
}

type Paths = Readonly<Record<keyof ProjectFiles, string>>;

const readFiles = async (paths: Paths): Promise<ProjectFiles> => ({
  projects: await readPlain(paths.projects),
  projid: await readPlain(paths.projid),
});

async function readPlain(path: string): Promise<string> {
  try {
    if ((await fs.lstat(path)).isFile()) return await fs.readFile(path, "utf8");
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return "";
    throw thrown;
  }
  throw kubeletError("Io", `${path} exists but is not a plain file, cannot continue`);
}

/** Writes names before directories, so that a directory without a name gets none. */
async function writeFiles(paths: Paths, files: ProjectFiles, before: ProjectFiles): Promise<void> {
  for (const name of ["projid", "projects"] as const) {
    if (files[name] === before[name]) continue;
    const path = paths[name];
    const next = join(dirname(path), `.${name}.rxlet`);
    const mode = await fs.stat(path).then(
      (stats) => stats.mode & 0o777,
      () => FILE_MODE,
    );
    await fs.writeFile(next, files[name], { mode });
    await fs.rename(next, path);
  }
}
