import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { sha256 } from "../../../src/core/sha256.ts";

it("equals OpenSSL's digest, around the length of each block", () => {
  const texts = ["", "abc", "ü€😀", ...[54, 55, 56, 63, 64, 65, 119, 120, 1000].map((length) => "x".repeat(length))];
  expect(texts.map(sha256)).toEqual(texts.map((text) => createHash("sha256").update(text).digest("hex")));
});
