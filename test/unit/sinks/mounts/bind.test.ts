import { expect, it } from "vitest";
import { type Bind, bind } from "../../../../src/sinks/mounts/bind.ts";
import type { RunTool } from "../../../../src/sinks/mounts/mountTools.ts";

/** Words of the only call of mount(8). */
async function wordsOf(more: Partial<Bind>): Promise<readonly string[]> {
  const calls: (readonly string[])[] = [];
  const run = ((asked: { readonly args: readonly string[] }) => {
    calls.push(asked.args);
    return Promise.resolve("");
  }) as unknown as RunTool;
  await bind({ source: "/from", target: "/to", ...more }, run);
  return calls.flat();
}

it("passes options, recursion and the descriptor of a source to mount(8)", async () => {
  expect(await wordsOf({})).toEqual(["--no-canonicalize", "--bind", "--", "/from", "/to"]);
  expect(await wordsOf({ recursive: true, options: ["nosuid", "nodev"], descriptor: 7 })).toEqual([
    "--no-canonicalize",
    "--rbind",
    "-o",
    "nosuid,nodev",
    "--",
    "/proc/self/fd/3",
    "/to",
  ]);
});
