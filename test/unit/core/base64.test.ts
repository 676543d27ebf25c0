import { expect, it } from "vitest";
import { decodeBase64, encodeBase64 } from "../../../src/core/base64.ts";

it("encodes and decodes every byte", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  expect(encodeBase64(bytes)).toBe(Buffer.from(bytes).toString("base64"));
  expect([...decodeBase64(encodeBase64(bytes))]).toEqual([...bytes]);
});

it("ignores line breaks, and throws for other text", () => {
  expect(Buffer.from(decodeBase64("aGVs\nbG8=\n")).toString()).toBe("hello");
  expect(() => decodeBase64("%")).toThrow();
});
