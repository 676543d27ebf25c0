import { describe, expect, it } from "vitest";
import { utf8Length } from "../../../src/core/utf8Length.ts";

describe("utf8Length", () => {
  it.each<[string, string]>([
    ["no text", ""],
    ["the last character of one byte", "a\u007f"],
    ["the first and the last of two bytes", "\u0080\u07ff"],
    ["the first and the last of three bytes", "\u0800\uffff"],
    ["characters beside the surrogates", "\ud7ff\ue000"],
    ["the first and the last pair", "\ud800\udc00\udbff\udfff"],
    ["a high surrogate at the end", "a\ud83d"],
    ["a high surrogate before a letter", "\ud83da"],
    ["a low surrogate alone", "\ude00a"],
    ["a pair after a high surrogate", "\ud83d\ud83d\ude00"],
    ["a pair in the wrong order", "\ude00\ud83d"],
  ])("%s", (_what, text) => {
    expect(utf8Length(text)).toBe(Buffer.byteLength(text));
  });
});
