import { describe, expect, it } from "vitest";
import { createTailBuffer, logTail, MAX_LINE, MAX_LINES } from "../../../../src/livePage/model/logTail.ts";

describe("logTail", () => {
  it("shows lines without what is unsafe to show", () => {
    expect(logTail("one\r\n<b>\u001b[2Jtwo\n\nlast\n")).toEqual(["one", "<b>\ufffd[2Jtwo", "", "last"]);
    expect(logTail("")).toEqual([]);
  });
  it("leaves out a first line that is not whole", () => {
    expect(logTail("rtial\nwhole\n", true)).toEqual(["whole"]);
    expect(logTail("rtial", true)).toEqual(["rtial"]);
  });
  it("bounds lines and their length", () => {
    const lines = logTail(`${"line\n".repeat(MAX_LINES + 50)}${"x".repeat(2 ** 20)}`);
    expect([lines.length, lines.at(-1)?.length]).toEqual([MAX_LINES, MAX_LINE]);
  });
});

describe("createTailBuffer", () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  it.each([
    [["abc", "def"], { text: "abcdef", isCut: false }],
    [["abcdefgh"], { text: "abcdefgh", isCut: false }],
    [["abcdef", "ghij"], { text: "cdefghij", isCut: true }],
    [["abc", "0123456789"], { text: "23456789", isCut: true }],
    [["", ""], { text: "", isCut: false }],
  ])("keeps the last eight bytes of %j", (pieces, kept) => {
    const buffer = createTailBuffer(8);
    for (const piece of pieces) buffer.add(bytes(piece));
    expect(buffer.text()).toEqual(kept);
  });
});
