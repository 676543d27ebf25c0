/** Runs the tools of the host, one at a time per path: a tool abandoned at its deadline may still do its work. */
import { kubeletError } from "../../core/errors.ts";
import { createToolShells } from "../toolShells.ts";
import { runTool, type Tool, type ToolEnd } from "./mountTool.ts";
import type { ToolLock } from "./toolLock.ts";

/** Runs a tool for one call, by default until that call is cancelled. Throws as `runTool`. */
export type RunTool = (tool: Tool, signal?: AbortSignal) => Promise<ToolEnd>;

export interface MountTools {
  /** Waits for tools of an earlier kubelet; throws Conflict while a tool still works at this path. */
  enter(path?: string): Promise<void>;
  /** Returns the tools for a call with this signal. */
  runFor(signal: AbortSignal): RunTool;
}

/** Creates the tools. Bound: one tool per call, and those the kernel does not let exit. */
export function createMountTools(lock: ToolLock, shells = createToolShells()): MountTools {
  const working = new Set<Tool>();
  return {
    async enter(path) {
      await lock.enter(path);
      for (const { args, what } of working) {
        if (path === undefined || !args.includes(path)) continue;
        throw kubeletError("Conflict", `cannot ${what}: the previous attempt has not ended yet`);
      }
    },
    runFor: (usual) => async (tool, signal) => {
      const inherited = await lock.enter();
      working.add(tool);
      const whenEnded = (): void => {
        working.delete(tool);
        tool.whenEnded?.();
      };
      return runTool({ ...tool, inherited, shells, signal: signal ?? usual, whenEnded });
    },
  };
}
