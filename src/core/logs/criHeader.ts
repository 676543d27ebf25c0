/**
 * Parses the header of one entry of a container log in CRI format from bytes, without decoding text: `<RFC 3339 time>
 * <stdout|stderr> <tags> <content>`. Upstream: parseCRILog of k8s.io/cri-client.
 */

/** A parsed header. Callers reuse one object, since there are hundreds of thousands per second. */
export interface CriHeader {
  /** Offset of the timestamp's zone: `Z`, or `+` or `-`. */
  zoneAt: number;
  /** Offset after the timestamp. */
  timestampEnd: number;
  isStderr: boolean;
  /** The line continues in the stream's next entry: this entry's newline is not content. */
  isPartial: boolean;
  contentAt: number;
}

/** Maximum length of a header in bytes; a longer one is malformed. */
export const MAX_HEADER_BYTES = 256;

export const emptyHeader = (): CriHeader => ({
  zoneAt: 0,
  timestampEnd: 0,
  isStderr: false,
  isPartial: false,
  contentAt: 0,
});

const SPACE = 0x20;
const NEWLINE = 0x0a;
const DASH = 0x2d;
const COLON = 0x3a;
const POINT = 0x2e;
const LETTER_P = 0x50;
const LETTER_T = 0x54;
const LETTER_Z = 0x5a;
const PLUS = 0x2b;
/** `0000-00-00T00:00:00`: a separator, or 0 for a digit. */
const SHAPE = [0, 0, 0, 0, DASH, 0, 0, DASH, 0, 0, LETTER_T, 0, 0, COLON, 0, 0, COLON, 0, 0] as const;
/** `00:00` of a zone. */
const ZONE_SHAPE = [0, 0, COLON, 0, 0] as const;
const STDOUT = [0x73, 0x74, 0x64, 0x6f, 0x75, 0x74] as const;
const STDERR = [0x73, 0x74, 0x64, 0x65, 0x72, 0x72] as const;

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/** Outcome of parsing: `cut` when the bytes end before the header does. */
export type HeaderReading = "whole" | "cut" | "malformed";

/** Parses the header of the entry at `at` into `header`; `to` is the end of the bytes. */
export function readCriHeader(bytes: Uint8Array, at: number, to: number, header: CriHeader): HeaderReading {
  const shaped = hasShape(bytes, at, to, SHAPE);
  if (shaped !== "whole") return shaped;
  let next = at + SHAPE.length;
  if (bytes[next] === POINT) {
    next += 1;
    while (next < to && isDigit(bytes[next])) next += 1;
  }
  header.zoneAt = next;
  if (next - at > MAX_HEADER_BYTES) return "malformed";
  if (next >= to) return "cut";
  if (bytes[next] === LETTER_Z) next += 1;
  else if (bytes[next] === PLUS || bytes[next] === DASH) {
    const zone = hasShape(bytes, next + 1, to, ZONE_SHAPE);
    if (zone !== "whole") return zone;
    next += 1 + ZONE_SHAPE.length;
  } else return "malformed";
  header.timestampEnd = next;
  return readStreamAndTags(bytes, at, to, header);
}

function readStreamAndTags(bytes: Uint8Array, at: number, to: number, header: CriHeader): HeaderReading {
  let next = header.timestampEnd;
  if (next >= to) return "cut";
  if (bytes[next] !== SPACE) return "malformed";
  next += 1;
  // The fourth letter distinguishes stdout from stderr.
  header.isStderr = bytes[next + 3] === STDERR[3];
  const name = header.isStderr ? STDERR : STDOUT;
  for (let i = 0; i < name.length; i++) {
    if (next + i >= to) return "cut";
    if (bytes[next + i] !== name[i]) return "malformed";
  }
  next += name.length;
  if (next >= to) return "cut";
  if (bytes[next] !== SPACE) return "malformed";
  const tagAt = next + 1;
  for (next = tagAt; next < to && next - at <= MAX_HEADER_BYTES; next++) {
    const byte = bytes[next];
    if (byte === NEWLINE) return "malformed";
    if (byte !== SPACE) continue;
    // Future tags follow the first, after a colon.
    const isOneLetter = next === tagAt + 1 || bytes[tagAt + 1] === COLON;
    header.isPartial = bytes[tagAt] === LETTER_P && isOneLetter;
    header.contentAt = next + 1;
    return "whole";
  }
  return next < to ? "malformed" : "cut";
}

function hasShape(bytes: Uint8Array, at: number, to: number, shape: readonly number[]): HeaderReading {
  for (let i = 0; i < shape.length; i++) {
    if (at + i >= to) return "cut";
    const byte = bytes[at + i];
    if (shape[i] === 0 ? !isDigit(byte) : byte !== shape[i]) return "malformed";
  }
  return "whole";
}
