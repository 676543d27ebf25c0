import { describe, expect, it } from "vitest";
import { bufferLines, logOutput } from "../../../src/sinks/logOutput.ts";

function buffered(size: number) {
  const written: string[] = [];
  return { written, buffer: bufferLines({ write: (text) => written.push(text) }, size) };
}

describe("bufferLines", () => {
  it("fills the buffer to the last byte, then writes it before the next line", () => {
    const { written, buffer } = buffered(6);
    buffer.write("ab\n");
    buffer.write("cd\n");
    expect(written).toEqual([]);
    buffer.write("e\n");
    expect(written).toEqual(["ab\ncd\n"]);
    buffer.flush();
    expect(written).toEqual(["ab\ncd\n", "e\n"]);
  });

  it("counts bytes, not characters", () => {
    const { written, buffer } = buffered(6);
    buffer.write("äö\n");
    buffer.write("e\n");
    expect(written).toEqual(["äö\n"]);
  });

  it("writes a line that is longer than the buffer at once, after the lines before it", () => {
    const { written, buffer } = buffered(4);
    buffer.write("abc\n");
    buffer.write("d\n");
    buffer.write("efgh\n");
    expect(written).toEqual(["abc\n", "d\n", "efgh\n"]);
  });

  it("writes nothing when nothing is buffered", () => {
    const { written, buffer } = buffered(4);
    buffer.flush();
    buffer.write("a\n");
    buffer.flush();
    buffer.flush();
    expect(written).toEqual(["a\n"]);
  });
});

describe("logOutput", () => {
  const one = { splitStream: false, infoBufferSize: "1Ki" };
  const split = { splitStream: true, infoBufferSize: "0" };
  const outputOf = (format: string, text: typeof one, json: typeof one) => {
    const { errors, infos, flush } = logOutput({ format, options: { text, json } });
    return { isSplit: errors !== infos, isBuffered: flush !== undefined };
  };

  it.each([
    ["text", split, one, true],
    ["text", one, split, false],
    ["json", one, split, true],
    ["json", split, one, false],
  ])("of the format %s heeds its own options only", (format, text, json, isSplit) => {
    expect(outputOf(format, text, json)).toEqual({ isSplit, isBuffered: false });
  });

  it("is buffered when it is split and has a size", () => {
    const before = process.listeners("exit");
    expect(outputOf("text", { ...split, infoBufferSize: "1Ki" }, one)).toEqual({ isSplit: true, isBuffered: true });
    const added = process.listeners("exit").filter((listener) => !before.includes(listener));
    expect(added.length).toBe(1);
    for (const listener of added) process.removeListener("exit", listener);
  });
});
