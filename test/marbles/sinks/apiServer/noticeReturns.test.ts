import { type Observable, throwError } from "rxjs";
import { expect, it, describe } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { noticeReturns } from "../../../../src/sinks/apiServer/noticeReturns.ts";
import type { ApiLanes, ApiServer } from "../../../../src/ports/apiServer.ts";
import { marbles } from "../../../support/marbles.ts";

/** Lanes whose calls all are answered by the stream of the name they ask for. */
function lanesOf(answers: Readonly<Record<string, Observable<unknown>>>): ApiLanes {
  const api = { get: (_: string, { name }: { name: string }) => answers[name] } as unknown as ApiServer;
  const lanes = { heartbeats: api, pods: api, events: api, objects: api, tokenReviews: api, accessReviews: api };
  return noticeReturns({ ...lanes, podTurn: () => throwError(() => new Error("nobody takes turns")) });
}

type Lane = "heartbeats" | "pods" | "events" | "objects";

/** Asks for each name at its frame, each on another lane, and expects when the server was found to be back. */
const rule = (
  expected: string,
  ...asked: readonly (readonly [subscription: string, outcome: string, lane: Lane, name: string])[]
): (() => void) =>
  marbles(({ cold, expectObservable }) => {
    const failure = "-#";
    const answer = " -(a|)";
    const unsub = "  --------------------!";

    const failing = (code: "Unavailable" | "DeadlineExceeded" | "Conflict") =>
      cold(failure, {}, kubeletError(code, "no"));
    const lanes = lanesOf({
      answer: cold(answer),
      refused: failing("Unavailable"),
      late: failing("DeadlineExceeded"),
      conflict: failing("Conflict"),
    });
    expectObservable(lanes.returns$, unsub).toBe(expected, { r: undefined });
    for (const [subscription, outcome, lane, name] of asked) {
      const code = { refused: "Unavailable", late: "DeadlineExceeded", conflict: "Conflict" }[name];
      const call$ = lanes[lane].get("nodes", { name });
      expectObservable(call$, subscription).toBe(outcome, undefined, expect.objectContaining({ code }));
    }
  });

describe("noticeReturns", () => {
  it(
    "emits nothing while the server responds",
    // biome-ignore format: aligned diagrams
    rule("    ---------",
      ["^", " -(a|)", "pods", "answer"],
    ),
  );
  it(
    "emits once when any lane gets a response after a failure",
    // biome-ignore format: aligned diagrams
    rule("             ------r",
      ["^", "          -#", "objects", "refused"],
      ["--^", "        ---#", "pods", "late"],
      ["-----^", "     ------(a|)", "heartbeats", "answer"],
      ["--------^", "  ---------(a|)", "objects", "answer"],
    ),
  );
  it(
    "ignores rejected requests",
    // biome-ignore format: aligned diagrams
    rule("        -----",
      ["^", "     -#", "objects", "conflict"],
      ["---^", "  ----(a|)", "objects", "answer"],
    ),
  );
});
