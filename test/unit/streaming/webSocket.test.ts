/** RFC 6455 as bytes, and the channels of Kubernetes in it. */
import { describe, expect, it } from "vitest";
import { channelCodec } from "../../../src/streaming/channels.ts";
import { agreedProtocol, offeredProtocols, tunnelledProtocols } from "../../../src/streaming/subprotocols.ts";
import {
  encodeWebSocketFrame,
  OPCODE,
  webSocketAccept,
  webSocketFrameReader,
} from "../../../src/streaming/webSocketFrames.ts";
import { maskedFrame } from "../../support/webSocketBytes.ts";

describe("a frame", () => {
  it.each([0, 1, 5, 125, 126, 127, 65_535, 65_536, 100_003])("of %i bytes comes back, however it is cut", (length) => {
    const payload = Buffer.alloc(length, "abcdefghijk");
    const frame = maskedFrame(OPCODE.binary, payload);
    const whole = webSocketFrameReader(1 << 20)(frame);
    expect(whole).toEqual([{ fin: true, opcode: OPCODE.binary, payload }]);
    const read = webSocketFrameReader(1 << 20);
    const step = Math.max(1, Math.floor(frame.length / 50));
    const pieces = Array.from({ length: Math.ceil(frame.length / step) }, (_, at) =>
      frame.subarray(at * step, (at + 1) * step),
    );
    expect(pieces.flatMap((piece) => [...read(piece)])).toEqual(whole);
  });

  it("of the server is as the specification writes it", () => {
    expect(encodeWebSocketFrame(OPCODE.text, Buffer.from("Hello")).toString("hex")).toBe("810548656c6c6f");
    expect(encodeWebSocketFrame(OPCODE.binary, Buffer.alloc(256)).subarray(0, 4).toString("hex")).toBe("827e0100");
    expect(encodeWebSocketFrame(OPCODE.binary, Buffer.alloc(65_536)).subarray(0, 10).toString("hex")).toBe(
      "827f0000000000010000",
    );
    expect(webSocketAccept("dGhlIHNhbXBsZSBub25jZQ==")).toBe("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  });

  it("in parts has its end in the last one, and a ping may come between", () => {
    const frames = [
      maskedFrame(OPCODE.binary, Buffer.from("a"), false),
      maskedFrame(OPCODE.ping, Buffer.from("p")),
      maskedFrame(OPCODE.continuation, Buffer.from("b")),
    ];
    expect(webSocketFrameReader(10)(Buffer.concat(frames)).map(({ fin, opcode }) => [fin, opcode])).toEqual([
      [false, OPCODE.binary],
      [true, OPCODE.ping],
      [true, OPCODE.continuation],
    ]);
  });

  it.each([
    ["longer than allowed", maskedFrame(OPCODE.binary, Buffer.alloc(11)), "a frame of 11 bytes"],
    ["not masked", encodeWebSocketFrame(OPCODE.binary, Buffer.alloc(1)), "a frame that is not masked"],
    ["with an extension", Buffer.from([0xc2, 0x80, 0, 0, 0, 0]), "a frame with an extension"],
    ["of control in parts", maskedFrame(OPCODE.ping, Buffer.alloc(1), false), "a control frame in parts"],
    ["of control too long", maskedFrame(OPCODE.close, Buffer.alloc(126)), "a control frame in parts"],
  ])("%s is refused", (_title, bytes, message) => {
    expect(() => webSocketFrameReader(10)(bytes)).toThrow(message);
  });
});

describe("a subprotocol", () => {
  it.each([
    ["", { isBase64: false, hasCloseSignal: false }],
    ["channel.k8s.io", { isBase64: false, hasCloseSignal: false }],
    ["base64.channel.k8s.io", { isBase64: true, hasCloseSignal: false }],
    ["v4.channel.k8s.io", { isBase64: false, hasCloseSignal: false }],
    ["v4.base64.channel.k8s.io", { isBase64: true, hasCloseSignal: false }],
    ["v5.channel.k8s.io", { isBase64: false, hasCloseSignal: true }],
    ["v5.base64.channel.k8s.io", undefined],
    ["v6.channel.k8s.io", undefined],
    ["graphql-ws", undefined],
  ])("%j", (protocol, codec) => {
    expect(channelCodec(protocol)).toEqual(codec);
  });

  it("is the client's first that the server speaks", () => {
    const offered = offeredProtocols(" v9, v4 ,, v3");
    expect([offered, agreedProtocol(offered, ["v3", "v4"]), agreedProtocol(offered, ["v1"])]).toEqual([
      ["v9", "v4", "v3"],
      "v4",
      undefined,
    ]);
  });

  it("of a tunnel names the one inside", () => {
    expect(tunnelledProtocols(["SPDY/3.1+portforward.k8s.io", "SPDY/3.1+other", "v4.channel.k8s.io"])).toEqual([
      "portforward.k8s.io",
    ]);
  });
});
