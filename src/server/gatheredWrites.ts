/** Forwards a stream in few writes: pieces that arrive together leave together. */
import type { Readable, Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers";

/**
 * Forwards all data of `from`, and its end. A TLS connection delivers records of 16 KiB at most, and a client of SPDY sends
 * each header in a record of its own: a write for each takes more CPU than to forward the data. Bound: the high-water mark
 * of `to`.
 */
export function forwardGathered(from: Readable, to: Writable): void {
  let isGathering = false;
  const release = (): void => {
    isGathering = false;
    to.uncork();
  };
  from.on("data", (piece: Buffer) => {
    if (!isGathering) {
      isGathering = true;
      to.cork();
      nextTurn(release);
    }
    if (!to.write(piece)) from.pause();
  });
  to.on("drain", () => from.resume());
  from.once("end", () => to.end());
}
