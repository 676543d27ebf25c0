import { type Observable, throwError } from "rxjs";
import { expect, it, describe } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { noticeReturns } from "../../../../src/sinks/apiServer/noticeReturns.ts";
import type { ApiLanes, ApiServer } from "../../../../src/ports/apiServer.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";

/** Lanes whose calls all are answered by the stream of the name they ask for. */
function lanesOf(answers: Readonly<Record<string, Observable<unknown>>>): ApiLanes {
  const api = { get: (_: string, { name }: { name: string }) => answers[name] } as unknown as ApiServer;
  const lanes = { heartbeats: api, pods: api, events: api, objects: api, tokenReviews: api, accessReviews: api };
  return noticeReturns({ ...lanes, podTurn: () => throwError(() => new Error("nobody takes turns")) });
}

/** Asks for each name at its frame, each on another lane, and expects when the server was found to be back. */
const rule = (
  asked: readonly (readonly [frame: string, lane: "heartbeats" | "pods" | "events" | "objects", name: string])[],
  expected: string,
): (() => void) =>
  marbles((helpers: Marbles) => {
    const { cold, expectObservable } = helpers;
    const away = (code: "Unavailable" | "DeadlineExceeded" | "Conflict") => cold("-#", {}, kubeletError(code, "no"));
    const lanes = lanesOf({
      answer: cold("-(a|)"),
      refused: away("Unavailable"),
      late: away("DeadlineExceeded"),
      conflict: away("Conflict"),
    });
    expectObservable(lanes.returns$, "-".repeat(20) + "!").toBe(expected, { r: undefined });
    for (const [frame, lane, name] of asked) {
      const outcome = name === "answer" ? "-(a|)" : "-#";
      const error = { refused: "Unavailable", late: "DeadlineExceeded", conflict: "Conflict" }[name];
      const call$ = lanes[lane].get("nodes", { name });
      const shift = "-".repeat(frame.length - 1);
      expectObservable(call$, frame).toBe(shift + outcome, undefined, expect.objectContaining({ code: error }));
    }
  });

describe("noticeReturns", () => {
  it("emits nothing while the server responds", rule([["^", "pods", "answer"]], ""));
  it(
    "emits once when any lane gets a response after a failure",
    rule(
      [
        ["^", "objects", "refused"],
        ["--^", "pods", "late"],
        ["-----^", "heartbeats", "answer"],
        ["--------^", "objects", "answer"],
      ],
      "------r",
    ),
  );
  it(
    "ignores rejected requests",
    rule(
      [
        ["^", "objects", "conflict"],
        ["---^", "objects", "answer"],
      ],
      "",
    ),
  );
});
