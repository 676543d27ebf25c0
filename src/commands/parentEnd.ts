/**
 * How the runtime of `rxlet dev` outlives a `dev` that was killed, and clears up after it. `dev` holds the other end of
 * the runtime's standard input and writes the paths that must go with it, each ended by a NUL byte.
 * Bound: MAX_BYTES of paths; what comes after is not removed.
 */
import { text } from "node:stream/consumers";
import { Readable } from "node:stream";
import { isAbsolute } from "node:path";
import { devPidIn } from "./devInstances.ts";
import { removeOwnTree } from "./removeOwnTree.ts";

const MAX_BYTES = 64 * 1024;

/** Resolves with the paths when the input ends. */
export async function pathsUntilEnd(input: AsyncIterable<Uint8Array>): Promise<readonly string[]> {
  const taken = await text(Readable.from(bounded(input)));
  return taken.split("\0").slice(0, -1).filter(isAbsolute);
}

/** Passes the first MAX_BYTES on and reads the rest. A broken pipe is an end. */
async function* bounded(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let room = MAX_BYTES;
  try {
    for await (const chunk of input) {
      yield chunk.subarray(0, room);
      room -= Math.min(room, chunk.length);
    }
  } catch {
    return;
  }
}

/** Removes what the process `pid` left. A directory that another `rxlet dev` has taken since stays. */
export async function removeLeft(paths: readonly string[], pid: number, report: (line: string) => void): Promise<void> {
  for (const path of paths) {
    const owner = await devPidIn(path);
    if (owner !== undefined && owner !== pid) continue;
    await removeOwnTree(path).catch((thrown: unknown) => report(String(thrown)));
  }
}
