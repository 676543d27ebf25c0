/** One runtime per state directory: a file with the pid and the start of its holder, stale when that one is gone. */
import fs from "node:fs";
import path from "node:path";
import { processStart } from "./processTable.ts";

/** Takes the lock; returns how to give it back. Throws, naming the holder, when another process has it. */
export async function lockStateDir(stateDir: string): Promise<() => void> {
  const file = path.join(stateDir, "lock");
  const mine = `${process.pid} ${(await processStart(process.pid)) ?? "unknown"}`;
  for (;;) {
    try {
      fs.writeFileSync(file, mine, { flag: "wx", mode: 0o600 });
      return () => fs.rmSync(file, { force: true });
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
    }
    const holder = readHolder(file);
    if (holder !== undefined && (await processStart(holder.pid)) === holder.start) {
      throw new Error(`state directory ${stateDir} is in use by process ${holder.pid}`);
    }
    fs.rmSync(file, { force: true });
  }
}

function readHolder(file: string): { readonly pid: number; readonly start: string } | undefined {
  try {
    const [, pid, start = ""] = /^(\d+) (.+)$/.exec(fs.readFileSync(file, "utf8")) ?? [];
    return pid === undefined ? undefined : { pid: Number(pid), start };
  } catch {
    return undefined;
  }
}
