/**
 * Allows one runtime per state directory: a lock file with the PID and start time of its holder, stale once that
 * process has exited.
 */
import fs from "node:fs";
import path from "node:path";
import { processStart } from "./processTable.ts";
import { readStateFile } from "./readStateFile.ts";

/** Far above a PID and a start time. */
const MAX_LOCK_BYTES = 256;

/** Acquires the lock; returns the function that releases it. Throws, naming the holder, if another process holds it. */
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
    const [, pid, start = ""] = /^(\d+) (.+)$/.exec(readStateFile(file, MAX_LOCK_BYTES).toString()) ?? [];
    return pid === undefined ? undefined : { pid: Number(pid), start };
  } catch {
    return undefined;
  }
}
