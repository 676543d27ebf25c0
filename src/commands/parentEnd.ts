/**
 * Cleanup by the embedded runtime after its `rxlet dev` was killed. `rxlet dev` holds the other end of the runtime's
 * standard input and writes the paths to remove, each terminated by a NUL byte; the end of the input is the end of
 * `rxlet dev`. Bound: MAX_BYTES of paths; later ones are not removed.
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

/** Emits the first MAX_BYTES and discards the rest. A broken pipe counts as the end. */
async function* bounded(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytesLeft = MAX_BYTES;
  try {
    for await (const chunk of input) {
      yield chunk.subarray(0, bytesLeft);
      bytesLeft -= Math.min(bytesLeft, chunk.length);
    }
  } catch {
    return;
  }
}

/** Removes the paths of the ended process `pid`, except directories that another `rxlet dev` owns by now. */
export async function removeLeft(paths: readonly string[], pid: number, report: (line: string) => void): Promise<void> {
  for (const path of paths) {
    const owner = await devPidIn(path);
    if (owner !== undefined && owner !== pid) continue;
    await removeOwnTree(path).catch((thrown: unknown) => report(String(thrown)));
  }
}
