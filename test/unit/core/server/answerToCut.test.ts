import { expect, it } from "vitest";
import { answerToCut } from "../../../../src/core/server/answerToCut.ts";

const answer = (peer: string, bytes: number, id: string) => ({ peer, bytes, id });

it.each([
  ["nothing waits", [], undefined],
  ["one waits", [answer("a", 0, "a1")], "a1"],
  ["one peer has the largest answer", [answer("a", 1, "a1"), answer("b", 2, "b1")], "b1"],
  ["one peer has the most in all", [answer("b", 3, "b1"), answer("a", 2, "a1"), answer("a", 2, "a2")], "a1"],
  ["two peers have as much", [answer("b", 2, "b1"), answer("a", 1, "a1"), answer("a", 1, "a2")], "b1"],
])("cuts off the oldest answer of the greediest peer when %s", (_, waiting, id) => {
  expect(answerToCut(waiting)?.id).toBe(id);
});
