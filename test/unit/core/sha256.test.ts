import { expect, it } from "vitest";
import { sha256 } from "../../../src/core/sha256.ts";

it.each([
  ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
  ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  ["ü€😀", "bec2d3e7c2047c817dc4c8c4e13f7a4801bb0c7f8798e3ac3e2fd65d71cb4993"],
])("returns the digest of the UTF-8 text %j", (text, digest) => {
  expect(sha256(text)).toBe(digest);
});
