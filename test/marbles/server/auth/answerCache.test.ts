import { NEVER } from "rxjs";
import { expect, it } from "vitest";
import type { KubeletError } from "../../../../src/core/errors.ts";
import type { Sheddable } from "../../../../src/ports/shedding.ts";
import { answerCache } from "../../../../src/server/auth/answerCache.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";

const FULL = "ResourceExhausted";
const options = {
  name: "test",
  maxEntries: 2,
  keyOf: (question: string) => question,
  isRefusal: (answer: unknown) => answer === "n",
  clientOf: (question: string) => question.slice(0, 1),
  waiting: { max: 9, maxOfClient: 9 },
};

it(
  "sends one review for concurrent requests",
  marbles(({ cold, clock, expectObservable, expectSubscriptions, at }) => {
    const review = "    ---(a|)";
    const reviewSubs = "^--!";
    const expected = "  ---(a|)";

    const review$ = cold(review);
    const ask = answerCache({ ...options, clock, ask: () => review$, lifeMs: () => 10 });
    expectObservable(ask("x")).toBe(expected);
    at(1, () => expectObservable(ask("x")).toBe(expected));
    expectSubscriptions(review$).toBe(reviewSubs);
  }),
);

it(
  "cancels a review with the last request for it",
  marbles(({ cold, clock, expectObservable, expectSubscriptions }) => {
    const review = "    -";
    const reviewSubs = "^----!";
    const firstUnsub = "--!";
    const expected = "  ------";
    const lastUnsub = " -----!";

    const review$ = cold(review);
    const ask = answerCache({ ...options, clock, ask: () => review$, lifeMs: () => 10 });
    expectObservable(ask("y"), firstUnsub).toBe(expected);
    expectObservable(ask("y"), lastUnsub).toBe(expected);
    expectSubscriptions(review$).toBe(reviewSubs);
  }),
);

it(
  "keeps an answer for as long as it may be kept, and a failure not at all",
  marbles(({ cold, clock, at, flush }) => {
    const allowed = "(y|)";
    const failing = "#";
    const denied = " (n|)";

    const answers = [cold(allowed), cold(failing), cold(denied), cold(denied)];
    let asked = 0;
    const ask = answerCache<string, string>({
      ...options,
      clock,
      ask: () => answers[asked++] ?? NEVER,
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
    const review = "(a|)";

    const asked: string[] = [];
    const ask = answerCache<string, string>({
      ...options,
      clock,
      ask: (key) => {
        asked.push(key);
        return cold(review);
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
    const allowed = "(y|)";
    const denied = " (n|)";

    const asked: string[] = [];
    const ask = answerCache<string, string>({
      ...options,
      clock,
      ask: (key) => {
        asked.push(key);
        return cold(key === "good" ? allowed : denied);
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

/** A cache with room for three waiting requests, two of one client; it knows the answer to "a0" already. */
function crowded({ cold, clock }: Marbles) {
  const known = "(y|)";
  const slow = " -----(y|)";

  const ask = answerCache<string, string>({
    ...options,
    waiting: { max: 3, maxOfClient: 2 },
    clock,
    ask: (key) => cold(key === "a0" ? known : slow),
    lifeMs: () => 1_000,
  });
  ask("a0").subscribe();
  /** The code of an error that is emitted at once; the request is then cancelled. */
  const refusal = (key: string): string => {
    let code = "";
    ask(key)
      .subscribe({ error: (error: KubeletError) => (code = error.code) })
      .unsubscribe();
    return code;
  };
  return { ask, refusal };
}

it(
  "limits the waiting requests of one client",
  marbles((m) => {
    const unsub = "            ----!";
    const expectedCancelled = "-----";
    const expectedAnswered = " ------(y|)";

    const { ask, refusal } = crowded(m);
    m.at(1, () => m.expectObservable(ask("a1"), unsub).toBe(expectedCancelled));
    m.at(1, () => m.expectObservable(ask("a2")).toBe(expectedAnswered));
    m.at(2, () => expect([refusal("a3"), refusal("a1"), refusal("b1")]).toEqual([FULL, FULL, ""]));
  }),
);

it(
  "limits the waiting requests of all clients",
  marbles((m) => {
    const expected = "------(y|)";

    const { ask, refusal } = crowded(m);
    for (const key of ["a1", "a2", "b1"]) m.at(1, () => m.expectObservable(ask(key)).toBe(expected));
    m.at(3, () => expect(refusal("c1")).toBe(FULL));
    m.at(8, () => expect(refusal("c1")).toBe(""));
  }),
);

it(
  "answers a known request while no further request may wait",
  marbles((m) => {
    const expected = "------(y|)";

    const { ask, refusal } = crowded(m);
    for (const key of ["a1", "a2", "b1"]) m.at(1, () => m.expectObservable(ask(key)).toBe(expected));
    m.at(3, () => expect([refusal("c1"), refusal("a0")]).toEqual([FULL, ""]));
  }),
);

/** A cache that can be shed; the review of "w" never ends. */
function sheddable({ cold, clock }: Marbles) {
  const waiting = "-";
  const known = "  (y|)";

  const sheddables: Sheddable[] = [];
  const shedding = { register: (each: Sheddable) => (sheddables.push(each), () => {}) };
  const asked: string[] = [];
  const ask = answerCache<string, string>({
    ...options,
    clock,
    shedding,
    ask: (key) => {
      asked.push(key);
      return cold(key === "w" ? waiting : known);
    },
    lifeMs: () => 100,
  });
  const shed = (kind: Sheddable["kind"]): number | undefined => sheddables.find((each) => each.kind === kind)?.shed();
  return { ask, asked, shed };
}

it(
  "reviews a request again after its entries were shed",
  marbles((m) => {
    const { ask, asked, shed } = sheddable(m);
    const answers: string[] = [];
    m.at(0, () => ask("a").subscribe((answer) => answers.push(answer)));
    m.at(2, () => expect(shed("caches")).toBe(1));
    m.at(3, () => ask("a").subscribe((answer) => answers.push(answer)));
    m.flush();
    expect(answers).toEqual(["y", "y"]);
    expect(asked).toEqual(["a", "a"]);
  }),
);

it(
  "rejects the waiting requests that are shed",
  marbles((m) => {
    const { ask, shed } = sheddable(m);
    const errors: unknown[] = [];
    m.at(1, () => ask("w").subscribe({ error: (error: unknown) => errors.push(error) }));
    m.at(4, () => expect(shed("requests")).toBe(1));
    m.at(5, () => expect(shed("requests")).toBe(0));
    m.flush();
    expect(errors).toMatchObject([{ code: FULL }]);
  }),
);

it(
  "reviews a rejected request when it comes again",
  marbles((m) => {
    const unsub = "   --------!";
    const expected = "---------";

    const { ask, asked, shed } = sheddable(m);
    m.at(1, () => ask("w").subscribe({ error: () => {} }));
    m.at(4, () => expect(shed("requests")).toBe(1));
    m.at(6, () => m.expectObservable(ask("w"), unsub).toBe(expected));
    m.flush();
    expect(asked).toEqual(["w", "w"]);
  }),
);
