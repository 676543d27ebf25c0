/** Runs tools that a node may lack, with a clear reason then. */
import { kubeletError } from "../core/errors.ts";
import { ioError } from "../core/ioError.ts";
import { runTool, type ToolEnd, type ToolRun } from "./mounts/mountTool.ts";

/** Runs a tool as runTool does. Errors: NotFound with the name of a tool that is not installed. */
export async function runHostTool(tool: ToolRun): Promise<ToolEnd> {
  const { program, what } = tool;
  try {
    return await runTool(tool);
  } catch (thrown) {
    const { code } = ioError("run", program, thrown);
    if (code === "NotFound") throw kubeletError("NotFound", `cannot ${what}: ${program} is not installed on this node`);
    throw thrown;
  }
}
