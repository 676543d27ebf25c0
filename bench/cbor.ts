/** CBOR (RFC 8949) of JSON values in deterministic form, for a comparison of encodings. Decodes only what it encodes. */

const TEXT = 3;
const LIST = 4;
const MAP = 5;

/** Encodes a JSON value. */
export function encodeCbor(value: unknown): Uint8Array {
  const parts: Uint8Array[] = [];
  write(value, parts);
  return Buffer.concat(parts);
}

function head(major: number, size: number): Uint8Array {
  if (size < 24) return Uint8Array.of((major << 5) | size);
  if (size < 256) return Uint8Array.of((major << 5) | 24, size);
  if (size < 65_536) return Uint8Array.of((major << 5) | 25, size >> 8, size & 255);
  const bytes = Buffer.alloc(5);
  bytes[0] = (major << 5) | 26;
  bytes.writeUInt32BE(size, 1);
  return bytes;
}

function write(value: unknown, parts: Uint8Array[]): void {
  if (typeof value === "string") {
    const bytes = Buffer.from(value);
    parts.push(head(TEXT, bytes.length), bytes);
  } else if (typeof value === "number" && Number.isInteger(value)) {
    parts.push(value < 0 ? head(1, -1 - value) : head(0, value));
  } else if (typeof value === "boolean") {
    parts.push(Uint8Array.of(value ? 0xf5 : 0xf4));
  } else if (Array.isArray(value)) {
    parts.push(head(LIST, value.length));
    for (const item of value) write(item, parts);
  } else if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, each]) => each !== undefined);
    parts.push(head(MAP, entries.length));
    for (const [key, each] of entries) {
      write(key, parts);
      write(each, parts);
    }
  } else throw new Error(`cannot encode ${String(value)}`);
}

/** Decodes such a value. */
export function decodeCbor(bytes: Uint8Array): unknown {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const read = (): unknown => {
    const first = buffer[at++] ?? 0;
    const [major, info] = [first >> 5, first & 31];
    if (major === 7) return info === 21;
    let size = info;
    if (info === 24) size = buffer[at++] ?? 0;
    else if (info === 25) {
      size = buffer.readUInt16BE(at);
      at += 2;
    } else if (info === 26) {
      size = buffer.readUInt32BE(at);
      at += 4;
    }
    switch (major) {
      case 0:
        return size;
      case 1:
        return -1 - size;
      case TEXT: {
        const start = at;
        at += size;
        return buffer.toString("utf8", start, at);
      }
      case LIST: {
        const list: unknown[] = [];
        for (let index = 0; index < size; index += 1) list.push(read());
        return list;
      }
      default: {
        const map: Record<string, unknown> = {};
        for (let index = 0; index < size; index += 1) map[String(read())] = read();
        return map;
      }
    }
  };
  return read();
}
