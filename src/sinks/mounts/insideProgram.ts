/**
 * The program that remoteInside.ts runs: performs one task in one remote volume and prints one line of JSON. File
 * descriptor 4 is the lock that all tools of the kubelet inherit. On SIGTERM it kills its tools and itself, because a
 * normal exit would wait for threads blocked by a dead server.
 */
import { writeSync } from "node:fs";
import { ioError } from "../../core/ioError.ts";
import { bindInside, makeInside } from "./insideVolume.ts";
import { runTool } from "./mountTool.ts";
import { SUB_PATH_TOOL } from "./leftTools.ts";
import type { InsideAnswer, InsideTask } from "./remoteInside.ts";

const LOCK = 4;
const STDOUT = 1;

const [, , words = ""] = process.argv;
const task = JSON.parse(words) as InsideTask;
const { volumeRoot } = task.request;
const abort = new AbortController();

async function work(): Promise<InsideAnswer> {
  try {
    await (task.kind === "bind"
      ? bindInside(task.request, (tool, signal) =>
          runTool({ ...tool, inherited: LOCK, signal: signal ?? abort.signal }),
        )
      : makeInside(task.request));
    return {};
  } catch (thrown) {
    const { code, message } = ioError("use a subPath of", volumeRoot, thrown);
    return { failure: { code, message } };
  }
}

// The next kubelet recognizes leftover processes, which it may kill, by this name.
process.title = SUB_PATH_TOOL;
process.once("SIGTERM", () => {
  abort.abort();
  process.kill(process.pid, "SIGKILL");
});
writeSync(STDOUT, `${JSON.stringify(await work())}\n`);
