import { defer } from "rxjs";
import { expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import { type RetriedFailure, retryWithBackoff } from "../../../src/operators/retryWithBackoff.ts";
import { fixedRng } from "../../support/fixedRng.ts";
import { marbles } from "../../support/marbles.ts";

it(
  "subscribes again after delays that double up to the cap, and passes on what then comes",
  marbles(({ cold, clock, expectObservable, expectSubscriptions, flush }) => {
    const failing = "          -#";
    const firstFailingSubs = " ^!";
    const secondFailingSubs = "---^!";
    const healthy = "          -v|";
    const healthySubs = "      -------^-!";
    const expected = "         --------v|";

    const failing$ = cold(failing, {}, kubeletError("Unavailable", "away"));
    const healthy$ = cold(healthy);
    let failures = 0;
    const reported: RetriedFailure[] = [];
    const source$ = defer(() => (failures < 2 ? failing$ : healthy$));
    expectObservable(
      source$.pipe(
        retryWithBackoff({ initialMs: 2, maxMs: 3 }, { clock, rng: fixedRng() }, (failure) => {
          failures += 1;
          reported.push(failure);
        }),
      ),
    ).toBe(expected);
    expectSubscriptions(failing$).toBe(firstFailingSubs, secondFailingSubs);
    expectSubscriptions(healthy$).toBe(healthySubs);
    flush();
    expect(reported.map(({ error, delayMs }) => [error.message, delayMs])).toEqual([
      ["away", 2],
      ["away", 3],
    ]);
  }),
);

it(
  "starts no attempt after its subscriber left during a delay",
  marbles(({ cold, clock, expectObservable, expectSubscriptions }) => {
    const failing = "    -#";
    const failingSubs = "^!";
    const unsub = "      ---!";
    const expected = "   ----";

    const failing$ = cold(failing);
    expectObservable(
      failing$.pipe(retryWithBackoff({ initialMs: 5, maxMs: 5 }, { clock, rng: fixedRng() }, () => undefined)),
      unsub,
    ).toBe(expected);
    expectSubscriptions(failing$).toBe(failingSubs);
  }),
);
