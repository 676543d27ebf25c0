import { EMPTY, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { type KubeletError, kubeletError } from "../../../../src/core/errors.ts";
import { podUid } from "../../../../src/core/ids.ts";
import type { PodOutput } from "../../../../src/pipelines/podOutputs.ts";
import { andThen, collectFailures, failed } from "../../../../src/pipelines/podWorker/roundFailure.ts";
import { marbles } from "../../../support/marbles.ts";

const refused = kubeletError("Unknown", "refused");
const away = kubeletError("Unavailable", "away");
const output: PodOutput = { kind: "inspect", uid: podUid("uid-1") };
const values = { o: output, r: failed(refused), a: failed(away) };

describe("collectFailures", () => {
  it(
    "removes the failures from the outputs and keeps their errors in order",
    marbles(({ cold, expectObservable, flush }) => {
      const outputs = " r-o-a-|";
      const expected = "--o---|";

      const errors: KubeletError[] = [];
      expectObservable(cold(outputs, values).pipe(collectFailures(errors))).toBe(expected, values);
      flush();
      expect(errors).toEqual([refused, away]);
    }),
  );
});

describe("andThen", () => {
  it(
    "passes all outputs on and continues with the errors",
    marbles(({ cold, expectObservable }) => {
      const outputs = " r-o-a-|";
      const expected = "r-o-a-(m|)";

      const messages$ = cold(outputs, values).pipe(andThen((errors) => of(errors.map(({ message }) => message))));
      expectObservable(messages$).toBe(expected, { ...values, m: ["refused", "away"] });
    }),
  );

  it(
    "collects the errors of each subscription anew",
    marbles(({ cold, expectObservable }) => {
      const outputs = "           r-o-a-|";
      const firstExpected = "     r-o-a-(m|)";
      const secondSubscription = "--^";
      const secondExpected = "    --r-o-a-(m|)";

      const messages$ = cold(outputs, values).pipe(andThen((errors) => of(errors.map(({ message }) => message))));
      expectObservable(messages$).toBe(firstExpected, { ...values, m: ["refused", "away"] });
      expectObservable(messages$, secondSubscription).toBe(secondExpected, { ...values, m: ["refused", "away"] });
    }),
  );

  it(
    "continues without errors after a source that has no failure",
    marbles(({ cold, expectObservable }) => {
      const outputs = " -o-|";
      const expected = "-o-(o|)";

      const next = (errors: readonly KubeletError[]) => (errors.length === 0 ? of(output) : EMPTY);
      expectObservable(cold(outputs, values).pipe(andThen(next))).toBe(expected, values);
    }),
  );
});
