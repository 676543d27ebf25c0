import { describe, expect, it } from "vitest";
import { bearerToken, type TokenHeaders, withoutToken } from "../../../../src/core/auth/bearerToken.ts";

const PREFIX = "base64url.bearer.authorization.k8s.io.";
/** The base64 has both characters that differ in base64url, and padding. */
const TOKEN = "a?>b~";
const encoded = Buffer.from(TOKEN).toString("base64url");

describe("bearerToken", () => {
  it.each<[string, TokenHeaders, string | undefined]>([
    ["a header", { authorization: "Bearer abc" }, "abc"],
    ["a header in any case, with spaces around", { authorization: "  bEaReR abc  " }, "abc"],
    ["another scheme", { authorization: "Basic abc" }, undefined],
    ["a scheme without token", { authorization: "Bearer" }, undefined],
    ["nothing", {}, undefined],
    ["a protocol", { webSocketProtocols: `v5.channel.k8s.io, ${PREFIX}${encoded}` }, TOKEN],
    ["two protocols", { webSocketProtocols: `${PREFIX}${encoded},${PREFIX}${encoded}` }, undefined],
    ["a protocol that is no base64url", { webSocketProtocols: `${PREFIX}a+b/` }, undefined],
    ["a protocol of an impossible length", { webSocketProtocols: `${PREFIX}a` }, undefined],
    ["an empty protocol", { webSocketProtocols: PREFIX }, undefined],
    ["the header before a protocol", { authorization: "Bearer abc", webSocketProtocols: PREFIX + encoded }, "abc"],
    ["a protocol beside another scheme", { authorization: "Basic x", webSocketProtocols: PREFIX + encoded }, TOKEN],
  ])("is read from %s", (_, headers, token) => {
    expect(bearerToken(headers)).toBe(token);
  });

  it.each(["?>~", "??>", "\u00ff\u00fe\u00fd", "\u00fb\u00ef\u00be"])("is decoded from base64url: %j", (token) => {
    const protocol = `${PREFIX}${Buffer.from(token, "latin1").toString("base64url")}`;
    expect(bearerToken({ webSocketProtocols: protocol })).toBe(token);
  });

  it("is taken out of the protocols", () => {
    expect(withoutToken(`a,${PREFIX}${encoded} , b`)).toBe("a, b");
    expect(withoutToken(PREFIX)).toBe("");
  });
});
