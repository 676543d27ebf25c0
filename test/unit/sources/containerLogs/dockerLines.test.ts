import { expect, it } from "vitest";
import { createDockerLines } from "../../../../src/sources/containerLogs/dockerLines.ts";

const entry = (text: string): string => `{"log":"${text}\\n","stream":"stdout","time":"2026-01-02T03:04:05Z"}\n`;
const cri = (text: string): string => `2026-01-02T03:04:05Z stdout F ${text}\n`;

it("converts lines cut at any byte, of two files at once", () => {
  const input = Buffer.from(`${entry("ä")}${entry("b")}${entry("c")}`);
  for (let cut = 0; cut <= input.length; cut++) {
    const convert = createDockerLines();
    const first = convert("one", input.subarray(0, cut));
    const other = convert("two", Buffer.from(entry("other")));
    const rest = convert("one", input.subarray(cut));
    expect([`${first}${rest}`, `${other}`]).toEqual([`${cri("ä")}${cri("b")}${cri("c")}`, cri("other")]);
  }
});

it("gives up a line of more than 1 MiB, keeps none of it, and goes on behind it", () => {
  const convert = createDockerLines();
  const piece = Buffer.alloc(256 * 1024, "x");
  const made = [Buffer.from('{"log":"'), piece, piece, piece, piece, piece].map((each) => convert("one", each).length);
  expect(made).toEqual([0, 0, 0, 0, 0, 0]);
  expect(`${convert("one", Buffer.from(`x\n${entry("next")}`))}`).toBe(`malformed\n${cri("next")}`);
});
