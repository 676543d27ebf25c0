import { expect, it } from "vitest";
import { answerCache } from "../../src/server/auth/answerCache.ts";
import { marbles } from "../support/marbles.ts";

const options = { maxEntries: 2, keyOf: (question: string) => question };

it(
  "asks once for all who want to know at the same time, and cancels when the last has gone",
  marbles(({ cold, clock, expectObservable, expectSubscriptions, at }) => {
    const asked = cold("   ---(a|)");
    const never = cold("-");
    const ask = answerCache({ ...options, clock, ask: (key) => (key === "x" ? asked : never), lifeMs: () => 10 });
    expectObservable(ask("x")).toBe("---(a|)");
    at(1, () => expectObservable(ask("x"), "--------!").toBe("---(a|)"));
    expectSubscriptions(asked).toBe("^--!");
    expectObservable(ask("y"), "--!").toBe("---");
    expectObservable(ask("y"), "-----!").toBe("------");
    expectSubscriptions(never).toBe("^----!");
  }),
);

it(
  "keeps an answer for as long as it may be kept, and a failure not at all",
  marbles(({ cold, clock, at, flush }) => {
    const answers = [cold("(y|)"), cold("#"), cold("(n|)"), cold("(n|)")];
    let asked = 0;
    const ask = answerCache<string, string>({
      ...options,
      clock,
      ask: () => answers[asked++] ?? cold("#"),
      lifeMs: (answer) => (answer === "y" ? 20 : 5),
    });
    const counts: (readonly [at: number, asked: number])[] = [];
    for (const ms of [0, 19, 20, 21, 25, 26]) {
      at(ms, () => {
        ask("q").subscribe({ error: () => {} });
        counts.push([ms, asked]);
      });
    }
    flush();
    expect(counts).toEqual([
      [0, 1],
      [19, 1],
      [20, 2],
      [21, 3],
      [25, 3],
      [26, 4],
    ]);
  }),
);

it(
  "forgets the oldest answer at its bound",
  marbles(({ cold, clock, flush }) => {
    const asked: string[] = [];
    const ask = answerCache<string, string>({
      ...options,
      clock,
      ask: (key) => {
        asked.push(key);
        return cold("(a|)");
      },
      lifeMs: () => 1_000,
    });
    for (const key of ["a", "b", "c"]) ask(key).subscribe();
    flush();
    for (const key of ["c", "a"]) ask(key).subscribe();
    flush();
    expect(asked).toEqual(["a", "b", "c", "a"]);
  }),
);
