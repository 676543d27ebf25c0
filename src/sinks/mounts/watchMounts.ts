/**
 * Tells when the mount table changes: the kernel wakes whoever polls it, which Node cannot, so findmnt(8) does. One
 * process for all subscribers; its end is an error for the supervisor, who asks anew and tells of what it may have missed.
 */
import { spawn } from "node:child_process";
import { Observable, share } from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import { ioError } from "../../core/ioError.ts";

/** Emits once when it watches, then after changes. Errors when findmnt is missing or ends. */
export const watchMounts = (program = "findmnt"): Observable<void> =>
  new Observable<void>((watcher) => {
    const child = spawn(program, ["--poll", "--raw", "--noheadings", "--output", "ACTION"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    // What changed before it was ready nobody told.
    child.on("spawn", () => watcher.next());
    child.stdout.on("data", () => watcher.next());
    child.on("error", (thrown) => watcher.error(ioError("run", program, thrown)));
    child.on("close", (code) => watcher.error(kubeletError("Io", `${program} --poll ended with exit status ${code}`)));
    return () => child.kill("SIGKILL");
  }).pipe(share());
