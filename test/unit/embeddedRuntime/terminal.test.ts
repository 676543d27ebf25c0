import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { parseSize } from "../../../src/criServer/terminalSizes.ts";
import { followSizes, onTerminal } from "../../../src/embeddedRuntime/terminal.ts";

describe("parseSize", () => {
  it.each([
    ['{"Width":80,"Height":24}', { rows: 24, columns: 80 }],
    ['{"Width":65535,"Height":1}', { rows: 1, columns: 65_535 }],
    ['{"Width":65536,"Height":24}', undefined],
    ['{"Width":0,"Height":24}', undefined],
    ['{"Width":8.5,"Height":24}', undefined],
    ['{"Width":"80; reboot","Height":24}', undefined],
    ['{"Width":80}', undefined],
    ["{}", undefined],
    ["nonsense", undefined],
  ])("reads %s", (text, size) => {
    expect(parseSize(text)).toEqual(size);
  });
});

describe("followSizes", () => {
  it("survives a client that never completes a message", async () => {
    const endless = Array.from({ length: 1000 }, () => "{".repeat(1000));
    await expect(followSizes(Readable.from(endless), -1, AbortSignal.abort())).resolves.toBeUndefined();
  });
});

it("quotes every word for the shell of script", () => {
  expect(onTerminal(["sh", "-c", "echo 'a b'; $HOME"])).toEqual([
    "script",
    [
      "--quiet",
      "--return",
      "--flush",
      "--command",
      "unset SCRIPT; exec 'sh' '-c' 'echo '\\''a b'\\''; $HOME'",
      "/dev/null",
    ],
  ]);
});
