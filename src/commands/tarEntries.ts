/**
 * Reads a tar archive from a stream, entry by entry, without keeping contents. The archive may come from a container, so
 * its headers are bounded and its paths are not trusted: the caller checks them.
 */
import {
  MAX_EXTENDED_BYTES,
  readTarExtension,
  readTarHeader,
  TAR_BLOCK,
  type TarExtension,
  type TarHeader,
  tarPadding,
} from "../core/tar/tarHeader.ts";

/** Archives are filled up to 10 KiB, or another size of a tape's record. */
const MAX_FILLING_BYTES = 1024 * 1024;

/** An entry, and its content, which is to be read before the next entry; the rest of it is skipped. */
export interface TarItem extends TarHeader {
  readonly content: AsyncIterable<Uint8Array>;
}

/** Yields the entries. Throws an Error for a stream that is no archive, or that ends within one. */
export async function* tarEntries(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarItem> {
  const input = byteReader(source);
  let extension: TarExtension = {};
  for (;;) {
    const block = await input.take(TAR_BLOCK);
    // Some archives have no mark of the end.
    if (block === undefined) return;
    const header = readTarHeader(block);
    if (header === undefined) throw new Error("the archive is damaged");
    if (header === "end") return await input.drain();
    if (header.kind === "extended") {
      extension = { ...extension, ...(await extensionOf(header, input)) };
      continue;
    }
    const size = header.kind === "file" || header.kind === "other" ? (extension.size ?? header.size) : 0;
    const item = { ...header, ...extension, size };
    extension = {};
    let left = size;
    const content = async function* (): AsyncGenerator<Uint8Array> {
      while (left > 0) {
        const part = await input.upTo(left);
        left -= part.length;
        yield part;
      }
    };
    yield { ...item, content: { [Symbol.asyncIterator]: content } };
    for (; left > 0; left -= (await input.upTo(left)).length);
    await input.skip(tarPadding(size));
  }
}

async function extensionOf(header: TarHeader, input: ByteReader): Promise<TarExtension> {
  if (header.size > MAX_EXTENDED_BYTES) throw new Error("the archive has an extended header that is too long");
  const content = header.size === 0 ? new Uint8Array() : await input.take(header.size);
  await input.skip(tarPadding(header.size));
  const extension = content && readTarExtension(header, content);
  if (extension === undefined) throw new Error("the archive has a damaged extended header");
  return extension;
}

interface ByteReader {
  /** Returns exactly `length` bytes; undefined at the end of the stream. Throws when it ends within them. */
  take(length: number): Promise<Uint8Array | undefined>;
  /** Returns at least one byte, and at most `length`. Throws at the end of the stream. */
  upTo(length: number): Promise<Uint8Array>;
  skip(length: number): Promise<void>;
  /** Reads to the end of the stream. Throws for more than MAX_FILLING_BYTES. */
  drain(): Promise<void>;
}

const cutOff = (): Error => new Error("the archive ends too early");

function byteReader(source: AsyncIterable<Uint8Array>): ByteReader {
  const parts = source[Symbol.asyncIterator]();
  let rest: Uint8Array = new Uint8Array();
  const some = async (length: number): Promise<Uint8Array | undefined> => {
    while (rest.length === 0) {
      const { done, value } = await parts.next();
      if (done === true) return undefined;
      rest = value;
    }
    const part = rest.subarray(0, length);
    rest = rest.subarray(part.length);
    return part;
  };
  const upTo = async (length: number): Promise<Uint8Array> => {
    const part = await some(length);
    if (part === undefined) throw cutOff();
    return part;
  };
  return {
    upTo,
    take: async (length) => {
      const whole = new Uint8Array(length);
      for (let at = 0; at < length; ) {
        const part = await some(length - at);
        if (part === undefined && at === 0) return undefined;
        if (part === undefined) throw cutOff();
        whole.set(part, at);
        at += part.length;
      }
      return whole;
    },
    skip: async (length) => {
      for (let left = length; left > 0; left -= (await upTo(left)).length);
    },
    drain: async () => {
      let drained = 0;
      for (let part = await some(TAR_BLOCK); part !== undefined; part = await some(MAX_FILLING_BYTES)) {
        drained += part.length;
        if (drained > MAX_FILLING_BYTES) throw new Error("the archive goes on after its end");
      }
    },
  };
}
