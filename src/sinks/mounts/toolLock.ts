/**
 * What a killed kubelet leaves at work, mount(8) above all, must not change the mount table behind the next one's back.
 * Every tool inherits one open file with a lock on it: the kernel frees the lock once the last of them has ended, and the
 * next kubelet changes nothing before it has it. Differs from upstream, where a late mount(8) stacks a second mount.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { openSync } from "node:fs";
import { kubeletError } from "../../core/errors.ts";
import { ioError } from "../../core/ioError.ts";
import type { Logger } from "../../ports/telemetry.ts";
import { endLeftTool, holdersOf, isStillThere, type LeftTool } from "./leftTools.ts";

export interface ToolLock {
  /**
   * The descriptor that tools inherit, once no tool of an earlier kubelet is at work, at least not at this path. Throws
   * Conflict while there is one that cannot be ended.
   */
  enter(path?: string): Promise<number>;
}

/** Most tools end by themselves; what hangs is killed, and then has some time more. */
const PATIENCE = { beforeKillSeconds: 1, afterKillSeconds: 5 };
/** Exit status of flock(1) when somebody else has the lock. */
const HELD = 1;
const FILE_MODE = 0o600;

/** Who has the lock: the kubelet, unless something of an earlier one outlives even SIGKILL. */
interface Entered {
  readonly descriptor: number;
  readonly stuck: readonly LeftTool[];
}

export interface ToolLockOptions {
  readonly file: string;
  readonly log: Logger;
  readonly patience?: typeof PATIENCE;
}

/** Owns the lock from the first `enter` until the process ends. `file` is made when it is missing, its directory is there. */
export function createToolLock({ file, log, patience = PATIENCE }: ToolLockOptions): ToolLock {
  let descriptor: number | undefined;
  let entered: Promise<Entered> | undefined;

  const begin = async (): Promise<Entered> => {
    descriptor ??= openSync(file, "a", FILE_MODE);
    if (await lock(descriptor, patience.beforeKillSeconds, log)) return { descriptor, stuck: [] };
    const left = await holdersOf(file);
    log.warn("Ending what an earlier kubelet left at work", { processes: left.map(described) });
    for (const tool of left) endLeftTool(tool);
    if (await lock(descriptor, patience.afterKillSeconds, log)) return { descriptor, stuck: [] };
    const stuck = await holdersOf(file);
    log.error("What an earlier kubelet left at work cannot be ended: nothing is done where it works", {
      processes: stuck.map(described),
    });
    return { descriptor, stuck };
  };

  return {
    async enter(path) {
      entered ??= begin();
      const { descriptor, stuck } = await entered.catch((thrown: unknown) => {
        entered = undefined;
        throw ioError("open", file, thrown);
      });
      if (stuck.length === 0) return descriptor;
      const left = stuck.filter(isStillThere);
      // The next kubelet has to find the lock held by what this one leaves behind.
      if (left.length === 0) {
        entered = undefined;
        return this.enter(path);
      }
      const inTheWay = left.find(({ args }) => path !== undefined && args.includes(path));
      if (inTheWay === undefined) return descriptor;
      throw kubeletError("Conflict", `${described(inTheWay)} of an earlier kubelet is still at work at ${path}`);
    },
  };
}

const described = ({ name, pid }: LeftTool): string => `${name} (process ${pid})`;

/**
 * Whether we have the lock now. It belongs to the open file, so that it stays with us when flock(1) has ended. Without
 * that program nobody can be waited for, which is told and is as upstream.
 */
async function lock(descriptor: number, seconds: number, log: Logger): Promise<boolean> {
  const child = spawn("flock", ["-x", "-w", String(seconds), "3"], {
    stdio: ["ignore", "ignore", "ignore", descriptor],
  });
  try {
    const status = await endOf(child);
    if (status === 0 || status === HELD) return status === 0;
    log.warn("Cannot wait for what an earlier kubelet left at work", { flock: status });
  } catch (thrown) {
    log.warn("Cannot wait for what an earlier kubelet left at work", { error: ioError("run", "flock", thrown) });
  }
  return true;
}

const endOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
