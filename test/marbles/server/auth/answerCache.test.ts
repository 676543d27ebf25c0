import { expect, it } from "vitest";
import type { Sheddable } from "../../../../src/ports/shedding.ts";
import { answerCache } from "../../../../src/server/auth/answerCache.ts";
import { marbles } from "../../../support/marbles.ts";

const options = {
  name: "test",
  maxEntries: 2,
  keyOf: (question: string) => question,
  isRefusal: (answer: unknown) => answer === "n",
  clientOf: (question: string) => question.slice(0, 1),
  waiting: { max: 9, maxOfClient: 9 },
};

it(
  "sends one review for concurrent requests, and cancels it with the last one",
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

it(
  "never evicts an allowing response for a denial",
  marbles(({ cold, clock, flush }) => {
    const asked: string[] = [];
    const ask = answerCache<string, string>({
      ...options,
      clock,
      ask: (key) => {
        asked.push(key);
        return cold(key === "good" ? "(y|)" : "(n|)");
      },
      lifeMs: () => 1_000,
    });
    for (const key of ["good", "1", "2", "3", "4", "good", "4", "1"]) {
      ask(key).subscribe();
      flush();
    }
    expect(asked).toEqual(["good", "1", "2", "3", "4", "1"]);
  }),
);

it(
  "lets so many wait, of one client and of all, and answers what it knows meanwhile",
  marbles(({ cold, clock, expectObservable, at }) => {
    const isFull = { code: "ResourceExhausted" };
    const ask = answerCache<string, string>({
      ...options,
      waiting: { max: 3, maxOfClient: 2 },
      clock,
      ask: (key) => cold(key === "a0" ? "(y|)" : "-----(y|)"),
      lifeMs: () => 1_000,
    });
    const refused = (key: string): string => {
      let code = "";
      ask(key)
        .subscribe({ error: (error: typeof isFull) => (code = error.code) })
        .unsubscribe();
      return code;
    };
    at(0, () => ask("a0").subscribe());
    at(1, () => expectObservable(ask("a1"), "-----!").toBe("------"));
    at(1, () => expectObservable(ask("a2")).toBe("------(y|)"));
    at(2, () => expect([refused("a3"), refused("a1"), refused("b1")]).toEqual([isFull.code, isFull.code, ""]));
    at(2, () => expectObservable(ask("b1")).toBe("-------(y|)"));
    at(3, () => expect([refused("c1"), refused("a0")]).toEqual([isFull.code, ""]));
    at(8, () => expect(refused("c1")).toBe(""));
  }),
);

it(
  "sheds its entries, and rejects waiting requests; later requests are reviewed again",
  marbles(({ cold, clock, expectObservable, at, flush }) => {
    const sheddables: Sheddable[] = [];
    const shedding = { register: (sheddable: Sheddable) => (sheddables.push(sheddable), () => {}) };
    const asked: string[] = [];
    const ask = answerCache<string, string>({
      ...options,
      clock,
      shedding,
      ask: (key) => {
        asked.push(key);
        return key === "w" ? cold("-") : cold("(y|)");
      },
      lifeMs: () => 100,
    });
    const shed = (kind: Sheddable["kind"]): number | undefined => sheddables.find((each) => each.kind === kind)?.shed();
    const refused = { code: "ResourceExhausted" };
    const errors: unknown[] = [];
    at(0, () => ask("a").subscribe());
    at(1, () => ask("w").subscribe({ error: (error: unknown) => errors.push(error) }));
    at(2, () => expect(shed("caches")).toBe(1));
    at(3, () => expectObservable(ask("a")).toBe("---(y|)"));
    at(4, () => expect(shed("requests")).toBe(1));
    at(5, () => expect(shed("requests")).toBe(0));
    at(6, () => expectObservable(ask("w"), "--------!").toBe("---"));
    flush();
    expect(errors).toMatchObject([refused]);
    expect(asked).toEqual(["a", "w", "a", "w"]);
  }),
);
