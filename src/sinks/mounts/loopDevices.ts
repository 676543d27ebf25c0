/**
 * Loop devices by what is behind them. The kernel owns them, and lists them in sysfs. Upstream: AttachFileDevice and
 * DetachFileDevice of pkg/volume/util/volumepathhandler.
 */
import * as fs from "node:fs/promises";
import { join } from "node:path";
import type { RunTool } from "./mountTools.ts";

const SYS_BLOCK = "/sys/block";

/** Attaches one unless the file or block device at this path, without links, has one. */
export async function attachLoop(path: string, run: RunTool): Promise<void> {
  await fs.stat(path);
  if ((await loopsOn(path)).length > 0) return;
  await run({ program: "losetup", args: ["--find", path], what: `attach a loop device to ${path}` });
}

/** Detaches each that this path has. */
export async function detachLoops(path: string, run: RunTool): Promise<void> {
  for (const loop of await loopsOn(path)) {
    const args = ["--detach", `/dev/${loop}`];
    await run({ program: "losetup", args, what: `detach /dev/${loop} from ${path}` }).catch(async (thrown: unknown) => {
      // Another process may have detached it meanwhile.
      if ((await backingFile(loop)) === path) throw thrown;
    });
  }
}

/** Returns the names of the loop devices with this backing file. */
async function loopsOn(path: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const name of await fs.readdir(SYS_BLOCK)) {
    if (/^loop\d+$/.test(name) && (await backingFile(name)) === path) found.push(name);
  }
  return found;
}

/** A free device has none. */
const backingFile = (loop: string): Promise<string | undefined> =>
  fs.readFile(join(SYS_BLOCK, loop, "loop/backing_file"), "utf8").then(
    (text) => text.replace(/\n$/, ""),
    () => undefined,
  );
