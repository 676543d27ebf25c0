import { describe, expect, it } from "vitest";
import { createFairTurns, nextOfAll } from "../../../../src/sinks/trees/fairTurns.ts";

/** Plays turns until all jobs have ended; `needs` has the turns of each job, `arrivals` the turn after which it starts. */
function play(
  credit: number,
  needs: Readonly<Record<string, number>>,
  arrivals: Readonly<Record<number, string>>,
): string {
  const turns = createFairTurns<string>(credit);
  const left = new Map(Object.entries(needs));
  let order = "";
  for (let turn = 0; ; turn += 1) {
    for (const name of arrivals[turn] ?? "") turns.add(name);
    const job = turns.next();
    if (job === undefined) return order;
    order += job;
    left.set(job, (left.get(job) ?? 0) - 1);
    if (left.get(job) === 0) turns.remove(job);
    else turns.charge(job, 1);
  }
}

describe("turns", () => {
  it("rotate among jobs that started together", () => {
    expect(play(0, { a: 3, b: 3, c: 3 }, { 0: "abc" })).toBe("abcabcabc");
  });

  it("go to a small new job before a large one continues", () => {
    expect(play(2, { a: 8, b: 2 }, { 0: "a", 4: "b" })).toBe("aaaabbaaaa");
  });

  it("are shared evenly with a large new job after its credit", () => {
    expect(play(2, { a: 8, b: 6 }, { 0: "a", 4: "b" })).toBe("aaaabbbabababa");
  });

  it("reach every job: many large ones, while small ones keep arriving", () => {
    const needs = Object.fromEntries([..."ABCD"].map((name) => [name, 50]));
    const small = "abcdefghijklmnopqrstuvwxyz";
    const arrivals = Object.fromEntries([...small].map((name, index) => [1 + index * 4, name]));
    const order = play(
      1,
      { ...needs, ...Object.fromEntries([...small].map((name) => [name, 2])) },
      { 0: "ABCD", ...arrivals },
    );
    for (const name of small) {
      const arrived = 1 + small.indexOf(name) * 4;
      expect(order.lastIndexOf(name) - arrived).toBeLessThanOrEqual(10);
    }
    const largeTurns = [...order.slice(0, 100)].filter((name) => name < "a").length;
    expect(largeTurns).toBeGreaterThan(40);
  });
});

describe("schedules that share a thread", () => {
  /** Plays turns of a schedule of letters and one of digits. */
  const playBoth = (letters: string, digits: string, count: number): string => {
    const turnsOf = (jobs: string) => {
      const turns = createFairTurns<string>(0);
      for (const job of jobs) turns.add(job);
      return turns;
    };
    const [ofLetters, ofDigits] = [turnsOf(letters), turnsOf(digits)];
    const schedules = [ofLetters, ofDigits];
    let order = "";
    for (let turn = 0; turn < count; turn += 1) {
      const job = nextOfAll(schedules);
      if (job === undefined) break;
      order += job;
      (letters.includes(job) ? ofLetters : ofDigits).charge(job, 1);
    }
    return order;
  };

  it("alternate, however many jobs one of them has", () => {
    expect(playBoth("a", "123456", 8)).toBe("a1a2a3a4");
  });

  it("leave all turns to the one that has jobs", () => {
    expect(playBoth("", "12", 4)).toBe("1212");
  });

  it("have no next job when all are empty", () => {
    expect(playBoth("", "", 1)).toBe("");
  });
});
