/**
 * Headers of tar archives: ustar, with the extensions of POSIX (pax) and GNU for long names, as the tar programs of images
 * write them. Pure. Sparse files and volumes in several parts are not read. Upstream: archive/tar of Go.
 */

/** Size of a header, and of the units of content. */
export const TAR_BLOCK = 512;
/** Longest extended header, in bytes; a path has at most 4,096. */
export const MAX_EXTENDED_BYTES = 64 * 1024;

/** `extended`: the content describes the next entry. */
export type TarKind = "file" | "directory" | "link" | "extended" | "other";

/** An entry of an archive, as its header describes it. */
export interface TarHeader {
  readonly kind: TarKind;
  /** The character of the header; tells apart what `kind` does not. */
  readonly type: string;
  /** The path as written: may be absolute, and may contain `..`. */
  readonly path: string;
  /** Bytes of content that follow. */
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  /** Target of a link. */
  readonly target: string;
}

const KINDS: ReadonlyMap<string, TarKind> = new Map([
  ["0", "file"],
  ["\0", "file"],
  ["7", "file"],
  ["1", "link"],
  ["2", "link"],
  ["5", "directory"],
  ["x", "extended"],
  ["g", "extended"],
  ["L", "extended"],
  ["K", "extended"],
]);

const utf8 = new TextDecoder();

function textAt(block: Uint8Array, offset: number, length: number): string {
  const field = block.subarray(offset, offset + length);
  const end = field.indexOf(0);
  return utf8.decode(end === -1 ? field : field.subarray(0, end));
}

/** Reads an octal number, or a binary one for large files (the first bit is set). Returns NaN for any other text. */
function numberAt(block: Uint8Array, offset: number, length: number): number {
  const first = block[offset] ?? 0;
  if ((first & 0x80) === 0) {
    const text = textAt(block, offset, length).trim();
    return text === "" ? 0 : /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number.NaN;
  }
  const bytes = block.subarray(offset + 1, offset + length);
  return bytes.reduce((value, byte) => value * 256 + byte, first & 0x7f);
}

/** Sum of the bytes of a header, with blanks in place of the sum itself. */
function checksum(block: Uint8Array): number {
  return block.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);
}

/** Reads a header; `end` for the mark of the end, undefined when the block is no header. */
export function readTarHeader(block: Uint8Array): TarHeader | "end" | undefined {
  if (block.every((byte) => byte === 0)) return "end";
  if (numberAt(block, 148, 8) !== checksum(block)) return undefined;
  const size = numberAt(block, 124, 12);
  const mode = numberAt(block, 100, 8);
  if (!Number.isSafeInteger(size) || size < 0 || Number.isNaN(mode)) return undefined;
  const isUstar = textAt(block, 257, 5) === "ustar";
  const prefix = isUstar && block[263] === 0x30 ? textAt(block, 345, 155) : "";
  const name = textAt(block, 0, 100);
  const type = String.fromCharCode(block[156] ?? 0);
  const kind = KINDS.get(type) ?? "other";
  const path = prefix === "" ? name : `${prefix}/${name}`;
  // Old archives mark a directory by its name alone.
  const isOldDirectory = kind === "file" && path.endsWith("/");
  // A hard link has the size of its file in some archives, and no content.
  const hasContent = kind !== "link" && kind !== "directory" && !isOldDirectory;
  return {
    ...{ kind: isOldDirectory ? "directory" : kind, type, path, mode: mode & 0o7777 },
    ...{ size: hasContent ? size : 0, target: textAt(block, 157, 100) },
  };
}

/** Values of an extended header for the next entry. */
export interface TarExtension {
  readonly path?: string;
  readonly target?: string;
  readonly size?: number;
}

/** Reads the content of an extended header; undefined when it is malformed. */
export function readTarExtension({ type }: TarHeader, content: Uint8Array): TarExtension | undefined {
  if (type === "L") return { path: textAt(content, 0, content.length) };
  if (type === "K") return { target: textAt(content, 0, content.length) };
  // Values for all entries, such as a comment, name none of them.
  if (type === "g") return {};
  const records = new Map<string, string>();
  for (let at = 0; at < content.length; ) {
    const blank = content.indexOf(0x20, at);
    const length = blank === -1 ? Number.NaN : Number(utf8.decode(content.subarray(at, blank)));
    if (!Number.isInteger(length) || at + length > content.length || at + length <= blank + 1) return undefined;
    const record = utf8.decode(content.subarray(blank + 1, at + length - 1));
    const equals = record.indexOf("=");
    if (equals === -1) return undefined;
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  const [path, target, size] = [records.get("path"), records.get("linkpath"), records.get("size")];
  if (size !== undefined && (!/^\d{1,16}$/.test(size) || !Number.isSafeInteger(Number(size)))) return undefined;
  return {
    ...(path === undefined ? {} : { path }),
    ...(target === undefined ? {} : { target }),
    ...(size === undefined ? {} : { size: Number(size) }),
  };
}

/** Bytes between the content of an entry and the next header. */
export const tarPadding = (size: number): number => (TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK;

/** An entry to write. */
export interface TarEntry {
  readonly kind: "file" | "directory" | "link";
  readonly path: string;
  readonly size: number;
  readonly mode: number;
  readonly target: string;
}

const encoder = new TextEncoder();
const TYPES = { file: "0", directory: "5", link: "2" } as const;
/** Largest size of the octal field. */
const MAX_OCTAL_SIZE = 0o777_7777_7777;

/** Returns the header of an entry, with an extended one before it where the fields are too short. */
export function tarHeader(entry: TarEntry): Uint8Array {
  const path = entry.kind === "directory" ? `${entry.path}/` : entry.path;
  const records: string[] = [];
  if (encoder.encode(path).length > 100) records.push(paxRecord("path", path));
  if (encoder.encode(entry.target).length > 100) records.push(paxRecord("linkpath", entry.target));
  if (entry.size > MAX_OCTAL_SIZE) records.push(paxRecord("size", String(entry.size)));
  const own = block(TYPES[entry.kind], path, entry);
  if (records.length === 0) return own;
  const content = encoder.encode(records.join(""));
  const extended = block("x", "pax", { size: content.length, mode: 0o644, target: "" });
  const whole = new Uint8Array(TAR_BLOCK + content.length + tarPadding(content.length) + TAR_BLOCK);
  whole.set(extended);
  whole.set(content, TAR_BLOCK);
  whole.set(own, whole.length - TAR_BLOCK);
  return whole;
}

/** A record begins with its own length. */
function paxRecord(name: string, value: string): string {
  const rest = ` ${name}=${value}\n`;
  const length = encoder.encode(rest).length;
  let digits = String(length).length;
  while (String(length + digits).length > digits) digits += 1;
  return `${length + digits}${rest}`;
}

function block(type: string, path: string, { size, mode, target }: Omit<TarEntry, "kind" | "path">): Uint8Array {
  const bytes = new Uint8Array(TAR_BLOCK);
  const put = (text: string, offset: number, length: number): void =>
    bytes.set(encoder.encode(text).subarray(0, length), offset);
  const octal = (value: number, offset: number, length: number): void =>
    put(value.toString(8).padStart(length - 1, "0"), offset, length - 1);
  put(path, 0, 100);
  octal(mode & 0o7777, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(Math.min(size, MAX_OCTAL_SIZE), 124, 12);
  octal(0, 136, 12);
  put(type, 156, 1);
  put(target, 157, 100);
  put("ustar\u000000", 257, 8);
  put(`${checksum(bytes).toString(8).padStart(6, "0")}\0 `, 148, 8);
  return bytes;
}
