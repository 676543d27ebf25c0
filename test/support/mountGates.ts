/** Programs in front of mount(8) and umount(8) that wait at a gate: a test then acts exactly between two of their steps. */
import { execFileSync } from "node:child_process";
import { constants } from "node:fs";
import { chmod, mkdir, open, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findProgram } from "./findProgram.ts";
import { isAlive } from "./kernelState.ts";
import { waitFor } from "./waitFor.ts";

export type MountTool = "mount" | "umount";

export interface MountGates {
  /** Belongs first in PATH. */
  readonly programs: string;
  /** The nth run of a tool from now on waits before it does anything, or after all is done. */
  arm(tool: MountTool, nth: number, when: "before" | "after"): Promise<void>;
  /** Waits until that run is at the gate: its process id. */
  reached(): Promise<number>;
  /** Lets it go on, unless it was ended, and waits for its end. */
  open(pid: number): Promise<void>;
}

const program = (tool: MountTool, real: string, folder: string): string => `#!/bin/sh
wait_here() {
  echo $$ >${folder}/waiting.new
  mv ${folder}/waiting.new ${folder}/waiting
  read _ <${folder}/gate
}
run=1
while ! mkdir ${folder}/runs/${tool}.$run 2>/dev/null; do run=$((run + 1)); done
armed=$(cat ${folder}/armed)
if [ "$armed" = "${tool} $run before" ]; then wait_here; fi
if [ "$armed" != "${tool} $run after" ]; then exec ${real} "$@"; fi
${real} "$@"
status=$?
wait_here
exit $status
`;

/** Makes them in an empty directory of the test. */
export async function mountGates(folder: string): Promise<MountGates> {
  const programs = join(folder, "programs");
  await mkdir(programs, { recursive: true });
  execFileSync("mkfifo", [join(folder, "gate")]);
  for (const tool of ["mount", "umount"] as const) {
    await writeFile(join(programs, tool), program(tool, findProgram(tool) ?? "", folder));
    await chmod(join(programs, tool), 0o755);
  }
  const disarm = async (): Promise<void> => {
    for (const name of ["runs", "waiting"]) await rm(join(folder, name), { recursive: true, force: true });
    await mkdir(join(folder, "runs"));
    await writeFile(join(folder, "armed"), "");
  };
  await disarm();
  return {
    programs,
    async arm(tool, nth, when) {
      await disarm();
      await writeFile(join(folder, "armed"), `${tool} ${nth} ${when}`);
    },
    reached: () =>
      waitFor("a tool to be at its gate", async () => Number(await readFile(join(folder, "waiting"), "utf8"))),
    async open(pid) {
      await disarm();
      await waitFor("the tool to end", async () => {
        if (!isAlive(pid)) return true;
        // Without a reader this fails, and is tried again.
        await (await open(join(folder, "gate"), constants.O_WRONLY | constants.O_NONBLOCK)).close();
        return false;
      });
    },
  };
}
