import { concat, ignoreElements, of, throwError, timer } from "rxjs";
import { describe, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { deadline } from "../../../../src/operators/deadline.ts";
import { unmountOrDetach } from "../../../../src/pipelines/volumes/unmountOrDetach.ts";
import type { Call } from "../../../../src/ports/call.ts";
import type { Mounts } from "../../../../src/ports/mounts.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";

const stuck = kubeletError("DeadlineExceeded", "unmount /m: not done within 6 ms");
const busy = kubeletError("Io", "cannot unmount /m: target is busy");

type Port = Pick<Mounts, "unmount">;

/** Each request ends as the diagram for its kind says, or at its deadline. */
const port = ({ clock }: Marbles, usual: Call<void>, lazy: Call<void>): Port => ({
  unmount: (_, { isLazy = false, deadlineMs = 1_000 } = {}) =>
    (isLazy ? lazy : usual).pipe(deadline(deadlineMs, clock, () => stuck)),
});

const after = ({ scheduler }: Marbles, ms: number, end: Call<void>): Call<void> =>
  concat(timer(ms, scheduler).pipe(ignoreElements()), end);

describe("unmounting a mount that may be stuck", () => {
  it(
    "completes with the first attempt",
    marbles((test) => {
      const detach = "  #";
      const expected = "--(u|)";

      const mounts = port(test, after(test, 2, of(undefined)), test.cold(detach));
      test.expectObservable(unmountOrDetach(mounts, "/m", 6)).toBe(expected, { u: { kind: "unmounted" } });
    }),
  );

  it(
    "detaches a mount that does not answer, with the reason",
    marbles((test) => {
      const expected = "---------(d|)";

      const mounts = port(test, after(test, 60, of(undefined)), after(test, 3, of(undefined)));
      test.expectObservable(unmountOrDetach(mounts, "/m", 6)).toBe(expected, { d: { kind: "detached", stuck } });
    }),
  );

  it(
    "passes on other errors: a mount in use stays",
    marbles((test) => {
      const detach = "  #";
      const expected = "--#";

      const mounts = port(
        test,
        after(
          test,
          2,
          throwError(() => busy),
        ),
        test.cold(detach),
      );
      test.expectObservable(unmountOrDetach(mounts, "/m", 6)).toBe(expected, {}, busy);
    }),
  );

  it(
    "fails when detaching fails, too",
    marbles((test) => {
      const expected = "-------#";

      const mounts = port(
        test,
        after(test, 60, of(undefined)),
        after(
          test,
          1,
          throwError(() => busy),
        ),
      );
      test.expectObservable(unmountOrDetach(mounts, "/m", 6)).toBe(expected, {}, busy);
    }),
  );
});
