import { concat, defer, EMPTY, ignoreElements, map, type Observable, of, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import type { WorkOutcome } from "../../../src/core/workQueue.ts";
import { byPriority, type ByPriorityOptions } from "../../../src/operators/byPriority.ts";
import { fixedRng } from "../../support/fixedRng.ts";
import { type Marbles, marbles } from "../../support/marbles.ts";

const BACKOFF = { initialMs: 2, maxMs: 8 };

type Work = (key: string, attempt: number) => Observable<WorkOutcome>;

/** Runs `<key><priority>` values through the operator and notes `frame key` for each piece begun. */
function run(
  { hot, clock, expectObservable, flush }: Marbles,
  diagram: string,
  work: Work,
  limit = 1,
  end = "-".repeat(60) + "!",
  more: Partial<Pick<ByPriorityOptions<string>, "turn" | "returns$">> = {},
) {
  const expected = "";

  const begun: string[] = [];
  const attempts = new Map<string, number>();
  const depths: number[] = [];
  const letters = { a: "a0", A: "a2", b: "b0", B: "b1", c: "c0", C: "c2" };
  const result$ = hot(diagram, letters).pipe(
    map((value) => ({ key: value.charAt(0), priority: Number(value.charAt(1)) })),
    byPriority<string>({
      work: (key) =>
        defer(() => {
          const attempt = (attempts.get(key) ?? 0) + 1;
          attempts.set(key, attempt);
          begun.push(`${clock.monotonicMs()} ${key}`);
          return work(key, attempt);
        }),
      limit,
      ...more,
      backoff: BACKOFF,
      clock,
      rng: fixedRng(),
      onDepth: (depth) => depths.push(depth),
    }),
  );
  expectObservable(result$, end).toBe(expected);
  flush();
  return { begun, depths };
}

describe("byPriority", () => {
  const says = (clock: Marbles["clock"], ms: number, outcome?: WorkOutcome): Observable<WorkOutcome> =>
    concat(timer(ms, clock.scheduler).pipe(ignoreElements()), outcome === undefined ? EMPTY : of(outcome));

  it(
    "starts in the same turn, the most urgent waiting key first",
    marbles((m) => {
      const source = "ACB----";

      const { begun, depths } = run(m, source, () => says(m.clock, 4));
      expect(begun).toEqual(["0 a", "4 b", "8 c"]);
      expect(depths).toEqual([1, 0, 1, 2, 1, 0]);
    }),
  );

  it(
    "works on up to its limit of keys, and once more on a key that changes meanwhile",
    marbles((m) => {
      const source = "aaBbC---";

      const { begun } = run(m, source, () => says(m.clock, 5), 2);
      expect(begun).toEqual(["0 a", "2 b", "5 a", "7 b", "10 c"]);
    }),
  );

  it(
    "repeats a key at once after an answer, later after a delay, and never after no work",
    marbles((m) => {
      const source = "a";

      const outcomes: readonly (WorkOutcome | undefined)[] = [{ kind: "answered" }, { kind: "later", afterMs: 5 }];
      const { begun } = run(m, source, (_key, attempt) => says(m.clock, 1, outcomes[attempt - 1]));
      expect(begun).toEqual(["0 a", "1 a", "7 a"]);
    }),
  );

  it(
    "doubles the backoff after each failure of a key",
    marbles((m) => {
      const source = "a";
      const { begun } = run(m, source, (_key, attempt) => (attempt < 6 ? of({ kind: "failed" }) : EMPTY));
      expect(begun).toEqual(["0 a", "2 a", "6 a", "14 a", "22 a", "30 a"]);
    }),
  );

  it(
    "ends the backoff of a key when the key changes",
    marbles((m) => {
      const source = "a--a";
      const { begun } = run(m, source, (_key, attempt) => (attempt < 3 ? of({ kind: "failed" }) : EMPTY));
      expect(begun).toEqual(["0 a", "2 a", "3 a"]);
    }),
  );

  it(
    "delays no other key during the backoff of one",
    marbles((m) => {
      const source = "a--b";
      const { begun } = run(m, source, (key, attempt) => (key === "a" && attempt < 3 ? of({ kind: "failed" }) : EMPTY));
      expect(begun).toEqual(["0 a", "2 a", "3 b", "6 a"]);
    }),
  );

  it(
    "tries one key at a time while the server is unreachable, and all keys after the first answer",
    marbles((m) => {
      const source = "(aBC)";

      const { begun } = run(
        m,
        source,
        () => (m.clock.monotonicMs() < 10 ? says(m.clock, 1, { kind: "away", pauseMs: 0 }) : EMPTY),
        3,
      );
      expect(begun).toEqual(["0 a", "0 b", "0 c", "3 a", "8 b", "17 c", "17 a", "17 b"]);
    }),
  );

  it(
    "stops waiting when the server is reachable, and tries one key at a time until the first answer",
    marbles((m) => {
      const returns = "---r------r";
      const source = " (aBC)";

      const away = (): Observable<WorkOutcome> => of({ kind: "away", pauseMs: 30 });
      const work: Work = () => (m.clock.monotonicMs() < 10 ? away() : says(m.clock, 1, { kind: "later", afterMs: 99 }));
      const { begun } = run(m, source, work, 3, undefined, { returns$: m.hot(returns) });
      expect(begun).toEqual(["0 a", "3 a", "10 b", "11 c", "12 a"]);
    }),
  );

  it(
    "chooses the key when it acquires a token, and returns an unused token",
    marbles((m) => {
      const source = "C-Ab-----";

      const turn = () => timer(4, m.clock.scheduler);
      const work = (key: string) => says(m.clock, 1, key === "b" ? undefined : { kind: "later", afterMs: 100 });
      const { begun } = run(m, source, work, 3, undefined, { turn });
      expect(begun).toEqual(["4 b", "5 c", "8 a"]);
    }),
  );

  it(
    "waits for the pause that the server requests",
    marbles((m) => {
      const source = "a";

      const { begun } = run(m, source, (_key, attempt) => (attempt === 1 ? of({ kind: "away", pauseMs: 20 }) : EMPTY));
      expect(begun).toEqual(["0 a", "20 a"]);
    }),
  );
});

describe("byPriority, as a stream", () => {
  it(
    "completes once the source did and nothing is left",
    marbles(({ hot, cold, clock, expectObservable, expectSubscriptions }) => {
      const source = "  -a|";
      const work = "    ---|";
      const workSubs = "-^--!";
      const expected = "----|";

      const work$ = cold<WorkOutcome>(work);
      const source$ = hot(source, { a: { key: "a", priority: 0 } });
      const options = { limit: 1, backoff: BACKOFF, clock, rng: fixedRng() };
      expectObservable(source$.pipe(byPriority({ ...options, work: () => work$ }))).toBe(expected);
      expectSubscriptions(work$).toBe(workSubs);
    }),
  );

  it(
    "passes on an error of the work",
    marbles(({ hot, cold, clock, expectObservable }) => {
      const source = "  -a|";
      const broken = "  --#";
      const expected = "---#";

      const broken$ = cold<WorkOutcome>(broken);
      const source$ = hot(source, { a: { key: "a", priority: 0 } });
      const options = { limit: 1, backoff: BACKOFF, clock, rng: fixedRng() };
      expectObservable(source$.pipe(byPriority({ ...options, work: () => broken$ }))).toBe(expected);
    }),
  );

  it(
    "stops all work when it is unsubscribed",
    marbles(({ hot, cold, clock, expectObservable, expectSubscriptions }) => {
      const source = "  -a----";
      const work = "    ------|";
      const workSubs = "-^-!";
      const unsub = "   ---!";
      const expected = "";

      const work$ = cold<WorkOutcome>(work);
      const source$ = hot<{ key: string; priority: number }>(source, { a: { key: "a", priority: 0 } });
      const result$ = source$.pipe(
        byPriority({ work: () => work$, limit: 1, backoff: BACKOFF, clock, rng: fixedRng() }),
      );
      expectObservable(result$, unsub).toBe(expected);
      expectSubscriptions(work$).toBe(workSubs);
    }),
  );
});
