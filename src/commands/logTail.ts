/** Reads the last lines of the log of `rxlet dev`. Bound: the last TAIL_BYTES of the file. */
import { open } from "node:fs/promises";

const TAIL_BYTES = 64 * 1024;

/** Returns at most the last `count` lines that match `wanted`, oldest first; none if the file cannot be read. */
export async function logTail(
  file: string,
  count: number,
  wanted: (line: string) => boolean = () => true,
): Promise<readonly string[]> {
  try {
    await using handle = await open(file, "r");
    const { size } = await handle.stat();
    const start = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, size - start, start);
    const lines = buffer.subarray(0, bytesRead).toString("utf8").split("\n");
    // The first line may be cut.
    return lines
      .slice(start === 0 ? 0 : 1)
      .filter((line) => line !== "" && wanted(line))
      .slice(-count);
  } catch {
    return [];
  }
}
