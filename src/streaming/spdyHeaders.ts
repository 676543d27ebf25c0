/**
 * SPDY/3.1 header blocks: name and value pairs in one zlib stream per direction with a preset dictionary. Our blocks
 * are stored, not compressed: they are short, and stored blocks need no compressor state. Bound: 64 KiB per block.
 */
import { constants, createInflate } from "node:zlib";

/** Header values by lower-case name; only the first of several values. */
export type SpdyHeaders = ReadonlyMap<string, string>;

const MAX_BLOCK_BYTES = 65_535;

const DICTIONARY_WORDS = `options head post put delete trace accept accept-charset accept-encoding accept-language
  accept-ranges age allow authorization cache-control connection content-base content-encoding content-language
  content-length content-location content-md5 content-range content-type date etag expect expires from host if-match
  if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma
  proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade
  user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie
  keep-alive origin`;
const DICTIONARY_TAIL =
  "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505" +
  "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized" +
  "403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable" +
  "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT" +
  "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain," +
  "text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";

/** The preset dictionary of the zlib streams. */
export const SPDY_DICTIONARY = Buffer.concat([
  ...DICTIONARY_WORDS.split(/\s+/).map((word) => withLength(word.replace("_", " "))),
  Buffer.from(DICTIONARY_TAIL),
]);

function withLength(text: string): Buffer {
  const bytes = Buffer.alloc(4 + Buffer.byteLength(text));
  bytes.writeUInt32BE(bytes.length - 4);
  bytes.write(text, 4);
  return bytes;
}

const ZLIB_HEAD = Buffer.from([0x78, 0x01]);
/** An empty stored block flushes the data before it. */
const FLUSH = Buffer.from([0, 0, 0, 0xff, 0xff]);

/** Creates a writer for the blocks of one direction, in order. Throws if a block is too long. */
export function spdyHeaderWriter(): (headers: Iterable<readonly [name: string, value: string]>) => Buffer {
  let head = ZLIB_HEAD;
  return (headers) => {
    const pairs = [...headers].flatMap(([name, value]) => [withLength(name.toLowerCase()), withLength(value)]);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(pairs.length / 2);
    const block = Buffer.concat([count, ...pairs]);
    if (block.length > MAX_BLOCK_BYTES) throw new Error(`headers of ${block.length} bytes`);
    const stored = Buffer.alloc(5);
    stored.writeUInt16LE(block.length, 1);
    stored.writeUInt16LE(0xffff - block.length, 3);
    const bytes = Buffer.concat([head, stored, block, FLUSH]);
    head = Buffer.alloc(0);
    return bytes;
  };
}

/** Reads the header blocks of one direction. */
export interface SpdyHeaderReader {
  /** Decodes one block; call in order, one at a time. Rejects if the block is invalid or too long. */
  read(block: Buffer): Promise<SpdyHeaders>;
  close(): void;
}

/** Creates a reader for a new connection. */
export function spdyHeaderReader(): SpdyHeaderReader {
  const inflate = createInflate({ dictionary: SPDY_DICTIONARY });
  let parts: Buffer[] = [];
  let size = 0;
  inflate.on("data", (part: Buffer) => {
    parts.push(part);
    size += part.length;
    if (size > MAX_BLOCK_BYTES) inflate.destroy(new Error(`headers of more than ${MAX_BLOCK_BYTES} bytes`));
  });
  let fault: Error | undefined;
  let onFault: ((fault: Error) => void) | undefined;
  const breakOff = (why: Error): void => {
    fault ??= why;
    onFault?.(fault);
  };
  inflate.on("error", breakOff);
  inflate.on("close", () => breakOff(new Error("closed")));
  return {
    read: (block) =>
      new Promise((resolve, reject) => {
        if (fault !== undefined) return reject(fault);
        onFault = reject;
        inflate.write(block);
        inflate.flush(constants.Z_SYNC_FLUSH, () => {
          if (inflate.destroyed) return;
          const bytes = Buffer.concat(parts, size);
          parts = [];
          size = 0;
          try {
            resolve(parseBlock(bytes));
          } catch (thrown) {
            reject(thrown);
          }
        });
      }),
    close: () => void inflate.destroy(),
  };
}

function parseBlock(bytes: Buffer): SpdyHeaders {
  const headers = new Map<string, string>();
  let at = 4;
  const next = (): string => {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) throw new Error("truncated header block");
    const text = bytes.toString("utf8", at + 4, end);
    at = end;
    return text;
  };
  for (let left = bytes.readUInt32BE(0); left > 0; left--) {
    const name = next().toLowerCase();
    headers.set(name, next().split("\0")[0] ?? "");
  }
  return headers;
}
