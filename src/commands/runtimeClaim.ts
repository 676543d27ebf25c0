/**
 * A note that an `rxlet dev` of this user has pods in a runtime of the machine, so the next one knows whose pods a
 * killed one left. The start time tells a process from a later one with its id.
 */
import { createHash } from "node:crypto";
import { readFile, rm, rmdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { isJsonObject, parseJson } from "../core/json.ts";
import type { LastDev } from "../core/dev/runtimePods.ts";
import { makeDirectories } from "../fileSystem/makeDirectories.ts";
import { isPrivate, sharedDirectory } from "./devInstances.ts";

/** The note of one runtime. */
export interface RuntimeClaim {
  /** The last instance that used the runtime and did not remove its note. */
  readonly last: LastDev;
  take(): Promise<void>;
  drop(): Promise<void>;
}

/** Column of the start time in /proc/PID/stat, after the name in parentheses. */
const START_COLUMN = 19;

/** Reads the note of the runtime at this endpoint. A note that others could have written does not count. */
export async function claimRuntime(endpoint: string): Promise<RuntimeClaim> {
  const shared = await sharedDirectory();
  const digest = createHash("sha256").update(endpoint).digest("hex").slice(0, 16);
  const file = path.join(shared, `.runtime-${digest}.json`);
  return {
    last: (await isPrivate(shared)) ? await lastIn(file) : { kind: "none" },
    take: async () => {
      await makeDirectories(shared, 0o700);
      const note = { pid: process.pid, startedAt: await startOf(process.pid) };
      await writeFile(file, JSON.stringify(note), { mode: 0o600 });
    },
    drop: async () => {
      await rm(file, { force: true });
      // Fails while other instances have entries.
      await rmdir(shared).catch(() => undefined);
    },
  };
}

async function lastIn(file: string): Promise<LastDev> {
  const note = parseJson(await readFile(file, "utf8").catch(() => undefined));
  if (!isJsonObject(note) || typeof note["pid"] !== "number") return { kind: "none" };
  const { pid, startedAt } = note;
  const isRunning = startedAt !== undefined && (await startOf(pid)) === startedAt;
  return isRunning ? { kind: "running", pid } : { kind: "ended" };
}

/** Returns the start time of a process in ticks since the boot; undefined once it is gone. */
async function startOf(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  return text.slice(text.lastIndexOf(")") + 2).split(" ")[START_COLUMN];
}
