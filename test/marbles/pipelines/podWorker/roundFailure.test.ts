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
      const errors: KubeletError[] = [];
      expectObservable(cold("r-o-a-|", values).pipe(collectFailures(errors))).toBe("--o---|", values);
      flush();
      expect(errors).toEqual([refused, away]);
    }),
  );
});

describe("andThen", () => {
  it(
    "passes all outputs on and continues with the errors of this subscription",
    marbles(({ cold, expectObservable }) => {
      const messages$ = cold("r-o-a-|", values).pipe(andThen((errors) => of(errors.map(({ message }) => message))));
      const expected = { ...values, m: ["refused", "away"] };
      expectObservable(messages$).toBe("r-o-a-(m|)", expected);
      expectObservable(messages$, "--^").toBe("--r-o-a-(m|)", expected);
    }),
  );

  it(
    "continues without errors after a source that has no failure",
    marbles(({ cold, expectObservable }) => {
      const next = (errors: readonly KubeletError[]) => (errors.length === 0 ? of(output) : EMPTY);
      expectObservable(cold("-o-|", values).pipe(andThen(next))).toBe("-o-(o|)", values);
    }),
  );
});
