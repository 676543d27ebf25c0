/**
 * Opens and reads files whose kind, size or location another party controls: a pod through a volume, a log shipper, a
 * plugin. Only regular files are opened, and their kind is checked before the open, so a FIFO, a device or a file lease
 * cannot block a thread and no device driver is called. Reads are bounded.
 * Upstream: none; upstream uses os.Open.
 */
import { constants, type Stats } from "node:fs";
import * as fs from "node:fs/promises";
import { type KubeletError, kubeletError } from "../core/errors.ts";
import { openedAt, PLACE } from "./insideDirectory.ts";

export interface OpenOptions {
  /** Whether the path may end in a symbolic link. Default `refused`. */
  readonly links?: "refused" | "followed";
  /** Creates the error for a file that is not regular. Default: InvalidArgument. */
  refuse?(why: string): KubeletError;
}

/** Opens a regular file for reading. The caller closes it. */
export const openRegular = (path: string, options: OpenOptions = {}): Promise<fs.FileHandle> =>
  openAs(constants.O_RDONLY, path, options);

/** Opens a regular file for writing. The caller closes it. */
export const openToWrite = (path: string): Promise<fs.FileHandle> => openAs(constants.O_WRONLY, path, {});

async function openAs(
  access: number,
  path: string,
  {
    links = "refused",
    refuse = (why) => kubeletError("InvalidArgument", `cannot open ${path}: it is ${why}`),
  }: OpenOptions,
): Promise<fs.FileHandle> {
  const noFollow = links === "refused" ? constants.O_NOFOLLOW : 0;
  const flags = access | constants.O_NONBLOCK;
  if (process.platform !== "linux") return openElsewhere(path, flags | noFollow, refuse);
  await using place = await fs.open(path, PLACE | noFollow);
  const why = notRegular(await place.stat());
  if (why !== undefined) throw refuse(why);
  // Reopens the checked file, even if another file has its name now.
  return await fs.open(openedAt(place), flags);
}

/** Fallback without O_PATH: checks the kind after opening the file. */
async function openElsewhere(
  path: string,
  flags: number,
  refuse: (why: string) => KubeletError,
): Promise<fs.FileHandle> {
  const file = await fs.open(path, flags);
  try {
    const why = notRegular(await file.stat());
    if (why !== undefined) throw refuse(why);
    return file;
  } catch (thrown) {
    await file.close();
    throw thrown;
  }
}

/** Returns the kind of the file with an article; undefined for a regular file. */
function notRegular(stats: Stats): string | undefined {
  if (stats.isFile()) return undefined;
  if (stats.isSymbolicLink()) return "a symbolic link";
  if (stats.isDirectory()) return "a directory";
  if (stats.isFIFO()) return "a FIFO";
  return stats.isSocket() ? "a socket" : "a device";
}

/** Returns the content of a regular file. Throws InvalidArgument for more than `maxBytes`. */
export async function readWhole(path: string, maxBytes: number, options: OpenOptions = {}): Promise<Buffer> {
  await using file = await openRegular(path, options);
  const content = await readUpTo(file, maxBytes + 1);
  if (content.length <= maxBytes) return content;
  throw kubeletError("InvalidArgument", `cannot read ${path}: it has more than ${maxBytes} bytes`);
}

/** Returns at most the last `maxBytes` of a regular file as UTF-8, without a truncated character at the start. */
export async function readTail(path: string, maxBytes: number, options: OpenOptions = {}): Promise<string> {
  await using file = await openRegular(path, options);
  return await tailOf(file, maxBytes);
}

/** Returns the end of an open file; see `readTail`. */
export async function tailOf(file: fs.FileHandle, maxBytes: number): Promise<string> {
  const { size } = await file.stat();
  const start = Math.max(0, size - maxBytes);
  const bytes = await readUpTo(file, Math.min(size, maxBytes), start);
  return bytes.subarray(start > 0 ? partialCharacter(bytes) : 0).toString("utf8");
}

const CHUNK_BYTES = 64 * 1024;

/** Reads to the end of the file or up to `maxBytes`. Allocates in chunks, because the reported size may be wrong. */
export async function readUpTo(file: fs.FileHandle, maxBytes: number, start = 0): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  while (length < maxBytes) {
    const wanted = Math.min(CHUNK_BYTES, maxBytes - length);
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(wanted), 0, wanted, start + length);
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
  }
  return Buffer.concat(chunks, length);
}

/** Counts the bytes of a truncated UTF-8 character at the start of `bytes`. */
function partialCharacter(bytes: Uint8Array): number {
  let count = 0;
  while (count < 3 && ((bytes[count] ?? 0) & 0xc0) === 0x80) count += 1;
  return count;
}
