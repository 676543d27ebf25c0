import { describe, expect, it } from "vitest";
import { killSessions } from "../../../src/embeddedRuntime/processTable.ts";

const LEADER = { pid: 7, session: 7 };
const OTHER = { pid: 30, session: 30 };
const of = (pid: number) => ({ pid, session: 7 });

/** Processes killed when the process table reads like this, walk by walk, the last one for ever. */
async function killedIn(walks: readonly (readonly { readonly pid: number; readonly session: number }[])[]) {
  const killed: number[] = [];
  let read = 0;
  const walk = () => Promise.resolve(walks[Math.min(read++, walks.length - 1)] ?? []);
  await killSessions(new Set([7]), walk, (pid) => void killed.push(pid));
  return { killed, walks: read };
}

describe("killSessions", () => {
  it.each([
    ["leaves leaders and other sessions alone, after one walk", [[LEADER, OTHER]], [], 1],
    [
      "kills members, and once only while they die",
      [
        [of(8), of(9)],
        [of(9), OTHER],
      ],
      [8, 9],
      2,
    ],
    ["finds what was forked behind its back", [[LEADER, of(8)], [of(8), of(9)], [of(9)]], [8, 9], 3],
  ])("%s", async (_title, walks, killed, count) => {
    expect(await killedIn(walks)).toEqual({ killed, walks: count });
  });

  it("gives up on processes that fork faster than they are killed", async () => {
    const endless = Array.from({ length: 100 }, (_, index) => [of(100 + index)]);
    expect((await killedIn(endless)).walks).toBe(20);
  });
});
