/** Whether anybody still reads a pipe, on pipes that a shell makes. */
import { spawn } from "node:child_process";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../support/temporaryDirectory.ts";

const source = (path: string): string => JSON.stringify(fileURLToPath(new URL(`../../src/${path}`, import.meta.url)));

/** Writes one line after a second; reports on standard error that its reader has gone, or that it received SIGTERM. */
const PROGRAM = `
  import { readerGone } from ${source("sources/readerGone.ts")};
  import { systemClock } from ${source("sources/systemClock.ts")};
  process.on("SIGUSR1", () => { process.stderr.write("waiting "); process.exit(); });
  readerGone(1, systemClock).subscribe(() => { process.stderr.write("gone "); process.exit(); });
  setTimeout(() => process.stdout.write("one\\n"), 1000);
  setInterval(() => {}, 1000);
`;

/** Returns what a shell script writes to standard error; \`program\` runs the program above. */
async function said(script: string, directory = "/"): Promise<string> {
  const env = { ...process.env, NODE: process.execPath, TEXT: PROGRAM };
  const program = 'program() { exec "$NODE" --input-type=module -e "$TEXT"; }';
  const shell = spawn("sh", ["-c", `${program}; ${script}`], {
    env,
    cwd: directory,
    stdio: ["ignore", "ignore", "pipe"],
  });
  return String(await buffer(shell.stderr));
}

describe("readerGone", () => {
  const directory = temporaryDirectory();
  it("emits when the reader has ended, without a write", async () => {
    expect(await said("program | head -1")).toBe("gone ");
  });

  it("waits for a process that inherited the pipe from the first reader", async () => {
    const handsOver = "{ read line; exec 3<&0; { sleep 2; printf 'child ' >&2; } & }";
    expect(await said(`program | ${handsOver}`)).toBe("child gone ");
  });

  it("does not emit while somebody reads, however little", async () => {
    const keeps = "{ read line; sleep 2; kill -USR1 $(cat $$.pid); rm -f $$.pid; cat; }";
    const script = `{ sh -c 'echo $$ > '$$'.pid; exec "$NODE" --input-type=module -e "$TEXT"'; } | ${keeps}`;
    expect(await said(script, directory())).toBe("waiting ");
  });

  it("never emits for what is no pipe", async () => {
    const script = `program > out & until [ -s out ]; do sleep 0.1; done; sleep 2; kill -USR1 $!; wait`;
    expect(await said(script, directory())).toBe("waiting ");
  });
});
