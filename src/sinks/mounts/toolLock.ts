/**
 * Keeps tools that a killed kubelet left running, above all mount(8), from changing the mount table under the next
 * kubelet. Every tool inherits one open file with a lock: the kernel releases the lock when the last tool has exited,
 * and the next kubelet changes no mount before it holds the lock. Differs from upstream, where a late mount(8) stacks
 * a second mount.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { openSync } from "node:fs";
import { kubeletError } from "../../core/errors.ts";
import { ioError } from "../../core/ioError.ts";
import type { Logger } from "../../ports/telemetry.ts";
import { endLeftTool, holdersOf, isStillThere, type LeftTool } from "./leftTools.ts";

export interface ToolLock {
  /**
   * Returns the descriptor that tools inherit, when no tool of an earlier kubelet is running, at least at this path.
   * Throws Conflict while such a tool cannot be killed.
   */
  enter(path?: string): Promise<number>;
}

/** Grace period: most tools exit on their own; a hanging tool is killed and then gets some more time. */
const PATIENCE = { beforeKillSeconds: 1, afterKillSeconds: 5 };
/** Exit status of flock(1) when another process holds the lock. */
const HELD = 1;
const FILE_MODE = 0o600;

/** Holder of the lock: the kubelet, unless a tool of an earlier kubelet survives even SIGKILL. */
interface Entered {
  readonly descriptor: number;
  readonly stuck: readonly LeftTool[];
}

export interface ToolLockOptions {
  readonly file: string;
  readonly log: Logger;
  readonly patience?: typeof PATIENCE;
}

/**
 * Owns the lock from the first `enter` until the process exits. Creates `file` if missing; its directory must exist.
 */
export function createToolLock({ file, log, patience = PATIENCE }: ToolLockOptions): ToolLock {
  let descriptor: number | undefined;
  let entered: Promise<Entered> | undefined;

  const begin = async (): Promise<Entered> => {
    descriptor ??= openSync(file, "a", FILE_MODE);
    if (await lock(descriptor, patience.beforeKillSeconds, log)) return { descriptor, stuck: [] };
    const left = await holdersOf(file);
    log.warn("Ending mount tools of an earlier kubelet", { processes: left.map(described) });
    for (const tool of left) endLeftTool(tool);
    if (await lock(descriptor, patience.afterKillSeconds, log)) return { descriptor, stuck: [] };
    const stuck = await holdersOf(file);
    log.error("Mount tools of an earlier kubelet cannot be ended: the volumes in which they work stay untouched", {
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
      // The next kubelet must find the lock held by the tools this kubelet leaves behind.
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
 * Tries to take the lock and returns whether we hold it. The lock belongs to the open file, so it outlives flock(1).
 * Without flock(1) the kubelet cannot wait for earlier tools; it logs that and behaves as upstream.
 */
async function lock(descriptor: number, seconds: number, log: Logger): Promise<boolean> {
  const child = spawn("flock", ["-x", "-w", String(seconds), "3"], {
    stdio: ["ignore", "ignore", "ignore", descriptor],
  });
  try {
    const status = await endOf(child);
    if (status === 0 || status === HELD) return status === 0;
    log.warn("Cannot wait for mount tools of an earlier kubelet", { flock: status });
  } catch (thrown) {
    log.warn("Cannot wait for mount tools of an earlier kubelet", { error: ioError("run", "flock", thrown) });
  }
  return true;
}

const endOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
