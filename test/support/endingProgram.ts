/** Ends itself while a thread of it hangs in the system. Arguments: what hangs, the named pipe it reads, the exit code. */
import { constants, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import { endProcess, watchThreads } from "../../src/commands/endProcess.ts";
import { waitFor } from "./waitFor.ts";

const [what = "", pipe = "", code] = process.argv.slice(2);
watchThreads();
if (what === "file") void readFile(pipe);
if (what === "thread") {
  // A single native call opens and reads, so that nothing can end the thread in between.
  new Worker(`require("fs").readFileSync(${JSON.stringify(pipe)}, "utf8")`, { eval: true });
}
// It succeeds once somebody reads, who then waits for the end of this writer.
if (what !== "nothing") {
  await waitFor("the pipe to be read", () => openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
}
endProcess(Number(code));
