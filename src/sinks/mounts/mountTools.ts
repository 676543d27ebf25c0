/** The tools of the host, one at a time where they work: who was left behind at its deadline may still do its work. */
import { kubeletError } from "../../core/errors.ts";
import { runTool, type Tool, type ToolEnd } from "./mountTool.ts";
import type { ToolLock } from "./toolLock.ts";

/** Runs a tool for one call; by default for as long as somebody waits for that call. Throws as `runTool`. */
export type RunTool = (tool: Tool, signal?: AbortSignal) => Promise<ToolEnd>;

export interface MountTools {
  /** Resolves once no earlier tool is at work, or none at this path; throws Conflict while one is. */
  enter(path?: string): Promise<void>;
  /** For a call with this signal. */
  runFor(signal: AbortSignal): RunTool;
}

/** Bound: as many tools as there are calls, and those the kernel does not let end. */
export function createMountTools(lock: ToolLock): MountTools {
  const working = new Set<Tool>();
  return {
    async enter(path) {
      await lock.enter(path);
      for (const { args, what } of working) {
        if (path === undefined || !args.includes(path)) continue;
        throw kubeletError("Conflict", `cannot ${what}: the try before has not ended yet`);
      }
    },
    runFor: (usual) => async (tool, signal) => {
      const inherited = await lock.enter();
      working.add(tool);
      const whenEnded = (): void => {
        working.delete(tool);
        tool.whenEnded?.();
      };
      return runTool({ ...tool, inherited, signal: signal ?? usual, whenEnded });
    },
  };
}
