/** Names of subprotocols, and what they mean. */
import { describe, expect, it } from "vitest";
import { channelCodec } from "../../../src/streaming/channels.ts";
import { agreedProtocol, offeredProtocols, tunnelledProtocols } from "../../../src/streaming/subprotocols.ts";

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

  it("is the client's most preferred one that the server supports", () => {
    const offered = offeredProtocols(" v9, v4 ,, v3");
    expect([offered, agreedProtocol(offered, ["v3", "v4"]), agreedProtocol(offered, ["v1"])]).toEqual([
      ["v9", "v4", "v3"],
      "v4",
      undefined,
    ]);
  });

  it("of a tunnel contains the protocol of its streams", () => {
    expect(tunnelledProtocols(["SPDY/3.1+portforward.k8s.io", "SPDY/3.1+other", "v4.channel.k8s.io"])).toEqual([
      "portforward.k8s.io",
    ]);
  });
});
