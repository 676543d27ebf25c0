/** The standard input of a command. */
import type { Readable, Writable } from "node:stream";

/**
 * Pipes stdin to a process. Data that the process no longer reads is discarded, so that the connection is not blocked.
 */
export function feed(from: Readable | undefined, to: Writable | null | undefined): void {
  if (from === undefined) return;
  if (to === null || to === undefined || to.destroyed) return void from.resume();
  to.once("close", () => {
    from.unpipe(to);
    from.resume();
  });
  from.pipe(to);
}
