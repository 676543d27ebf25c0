/** Processes that are asked to end while one of their threads hangs in the system: a pipe nobody writes to stands for it. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { kill } from "../support/kernelState.ts";
import { waitFor } from "../support/waitFor.ts";

const PROGRAM = fileURLToPath(new URL("../support/endingProgram.ts", import.meta.url));
/** The bound is 2 s; the rest is room for a busy machine. */
const END_MS = 30_000;

describe("a process that is asked to end", () => {
  let folder: string;
  let pipe: string;
  let started: number[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "rxlet-end-"));
    pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
  });
  afterEach(() => {
    for (const pid of started) kill(pid);
    started = [];
    rmSync(folder, { recursive: true, force: true });
  });

  const start = (...args: readonly string[]) => {
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
    started.push(child.pid ?? 0);
    let said = "";
    child.stderr.on("data", (text: Buffer) => (said += text.toString()));
    const ended = once(child, "close");
    return {
      said: () => said,
      ended: () =>
        waitFor("the process to end", () => child.exitCode !== null || child.signalCode !== null, END_MS).then(
          async () => (await ended) as [number | null, string | null],
        ),
    };
  };

  it.each([
    ["file", "1 file system call"],
    ["thread", "1 thread"],
  ])("ends with its exit code though a %s hangs, and says so", async (what, open) => {
    const { ended, said } = start(PROGRAM, what, pipe, "70");
    expect([await ended(), said()]).toEqual([[70, null], `rxlet: exiting with ${open} still open\n`]);
  });

  it("ends at once when nothing is open", async () => {
    const { ended, said } = start(PROGRAM, "nothing", pipe, "3");
    expect([await ended(), said()]).toEqual([[3, null], ""]);
  });
});
