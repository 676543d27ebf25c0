/** SPDY/3.1 as bytes. */
import { createDeflate, constants } from "node:zlib";
import { describe, expect, it } from "vitest";
import { encodeSpdyFrame, type SpdyFrame, spdyFrameReader } from "../../../src/streaming/spdyFrames.ts";
import { SPDY_DICTIONARY, spdyHeaderReader, spdyHeaderWriter } from "../../../src/streaming/spdyHeaders.ts";

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(" ", ""), "hex");
const HEADERS = bytes("aabb");

const FRAMES: readonly (readonly [string, Exclude<SpdyFrame, { kind: "other" }>, string])[] = [
  [
    "opens a stream",
    { kind: "open", streamId: 1, headers: HEADERS, fin: false },
    "80030001 0000000c 00000001 00000000 0000 aabb",
  ],
  [
    "opens and ends",
    { kind: "open", streamId: 3, headers: HEADERS, fin: true },
    "80030001 0100000c 00000003 00000000 0000 aabb",
  ],
  ["replies", { kind: "reply", streamId: 1, headers: HEADERS, fin: false }, "80030002 00000006 00000001 aabb"],
  ["adds headers", { kind: "headers", streamId: 1, headers: HEADERS, fin: false }, "80030008 00000006 00000001 aabb"],
  ["resets", { kind: "reset", streamId: 5, status: 5 }, "80030003 00000008 00000005 00000005"],
  ["pings", { kind: "ping", id: 7 }, "80030006 00000004 00000007"],
  ["goes away", { kind: "goAway" }, "80030007 00000008 00000000 00000000"],
  ["carries data", { kind: "data", streamId: 2, data: Buffer.from("hi"), fin: false }, "00000002 00000002 6869"],
  ["ends with data", { kind: "data", streamId: 2, data: Buffer.from("hi"), fin: true }, "00000002 01000002 6869"],
  ["ends without data", { kind: "data", streamId: 2, data: Buffer.alloc(0), fin: true }, "00000002 01000000"],
];

describe("a SPDY frame", () => {
  it.each(FRAMES)("%s", (_title, frame, hex) => {
    expect(encodeSpdyFrame(frame).toString("hex")).toBe(bytes(hex).toString("hex"));
    expect(spdyFrameReader()(bytes(hex))).toEqual([frame]);
  });

  it("is parsed equally for every split into chunks", () => {
    const all = Buffer.concat(FRAMES.map(([, , hex]) => bytes(hex)));
    const read = spdyFrameReader();
    const frames = [...all].flatMap((byte) => [...read(Buffer.from([byte]))]);
    const joined = (kind: string) => frames.filter((frame) => frame.kind === kind).length;
    expect(["open", "reply", "headers", "reset", "ping", "goAway"].map(joined)).toEqual([2, 1, 1, 1, 1, 1]);
    const data = frames.filter((frame) => frame.kind === "data");
    expect(Buffer.concat(data.map((frame) => frame.data)).toString()).toBe("hihi");
    expect(data.map(({ fin }) => fin)).toEqual([false, false, false, true, true]);
  });

  it("is split in two for data beyond 16 MiB", () => {
    const data = Buffer.alloc(1 << 24, 1);
    const frames = spdyFrameReader()(encodeSpdyFrame({ kind: "data", streamId: 1, data, fin: true }));
    expect(frames.map((frame) => frame.kind === "data" && [frame.data.length, frame.fin])).toEqual([
      [(1 << 24) - 1, false],
      [1, true],
    ]);
  });

  it.each([
    ["settings", "80030004 00000004 00000000"],
    ["a window update", "80030009 00000008 00000001 00000001"],
  ])("of %s is passed over", (_title, hex) => {
    expect(spdyFrameReader()(bytes(hex))).toEqual([{ kind: "other" }]);
  });

  it.each([
    ["another version", "80020001 0000000c", "not a frame of SPDY/3"],
    ["a control frame of 2 MiB", "80030001 00200000", "control frame too long: 2097152 bytes"],
    ["a reset without a status", "80030003 00000004 00000001", "out of range"],
  ])("of %s is refused", (_title, hex, message) => {
    expect(() => spdyFrameReader()(bytes(hex))).toThrow(message);
  });
});

describe("SPDY headers", () => {
  const read = async (blocks: readonly Buffer[]) => {
    const reader = spdyHeaderReader();
    const found: unknown[] = [];
    for (const block of blocks) found.push([...(await reader.read(block))]);
    reader.close();
    return found;
  };

  it("are decoded block by block with lower-case names", async () => {
    const write = spdyHeaderWriter();
    const blocks = [
      [["streamType", "error"]],
      [],
      [
        ["port", "80"],
        ["requestID", "ü"],
      ],
    ] as [string, string][][];
    expect(await read(blocks.map(write))).toEqual([
      [["streamtype", "error"]],
      [],
      [
        ["port", "80"],
        ["requestid", "ü"],
      ],
    ]);
  });

  it("are decoded from a peer's compression: with the dictionary, one stream for all blocks", async () => {
    const deflate = createDeflate({ dictionary: SPDY_DICTIONARY });
    const parts: Buffer[] = [];
    deflate.on("data", (part: Buffer) => parts.push(part));
    const compressed = async (block: Buffer): Promise<Buffer> => {
      deflate.write(block);
      await new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, resolve));
      return Buffer.concat(parts.splice(0));
    };
    const word = (text: string) => Buffer.concat([bytes(text.length.toString(16).padStart(8, "0")), Buffer.from(text)]);
    const block = Buffer.concat([bytes("00000001"), word("content-type"), word("a\0b")]);
    expect(await read([await compressed(block), await compressed(block)])).toEqual([
      [["content-type", "a"]],
      [["content-type", "a"]],
    ]);
    deflate.destroy();
  });

  it("use the dictionary of the specification", () => {
    expect([SPDY_DICTIONARY.length, SPDY_DICTIONARY.subarray(0, 11).toString("latin1")]).toEqual([
      1423,
      "\0\0\0\x07options",
    ]);
  });

  it.each([
    ["a block that ends within a word", Buffer.from("00000001000000ff61", "hex"), "truncated header block"],
    ["a bomb", Buffer.alloc(10_000_000), "headers of more than 65535 bytes"],
  ])("refuse %s", async (_title, block, message) => {
    const deflate = createDeflate({ dictionary: SPDY_DICTIONARY });
    const parts: Buffer[] = [];
    deflate.on("data", (part: Buffer) => parts.push(part));
    deflate.write(block);
    await new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, resolve));
    await expect(read([Buffer.concat(parts)])).rejects.toThrow(message);
    deflate.destroy();
  });

  it("reject data that is not compressed", async () => {
    await expect(read([Buffer.from("plain text, not zlib")])).rejects.toThrow("incorrect header check");
  });
});
