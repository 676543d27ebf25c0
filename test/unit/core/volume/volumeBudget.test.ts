import { expect, it } from "vitest";
import { MAX_POD_CONTENT_BYTES, podContentBudget } from "../../../../src/core/volume/volumeBudget.ts";
import type { Result } from "../../../../src/core/result.ts";

const HALF = MAX_POD_CONTENT_BYTES / 2;
const BOUND = `the files of all volumes of a pod must be at most ${MAX_POD_CONTENT_BYTES} bytes in all`;
const shown = (held: Result<undefined>): string => (held.ok ? "held" : held.error.message);

it("the volumes of a pod may fill its budget to the last byte", () => {
  const budget = podContentBudget();
  expect([budget.hold("a", HALF), budget.hold("b", HALF), budget.hold("c", 0)].map(shown)).toEqual([
    "held",
    "held",
    "held",
  ]);
  const beyond = budget.hold("c", 1);
  expect(beyond).toMatchObject({ ok: false, error: { code: "InvalidArgument", reason: "FailedMount" } });
  expect(shown(beyond)).toBe(`volume "c": ${BOUND}: it has 1, the others have ${2 * HALF}`);
});

it("new files of a volume count instead of its old ones", () => {
  const budget = podContentBudget();
  budget.hold("a", HALF);
  expect([budget.hold("a", MAX_POD_CONTENT_BYTES), budget.hold("a", HALF), budget.hold("b", HALF)].map(shown)).toEqual([
    "held",
    "held",
    "held",
  ]);
});

it("a refused volume keeps what it had", () => {
  const budget = podContentBudget();
  budget.hold("a", HALF);
  budget.hold("b", 10);
  expect(shown(budget.hold("b", HALF + 1))).toContain(`it has ${HALF + 1}, the others have ${HALF}`);
  expect(shown(budget.hold("c", HALF))).toContain(`the others have ${HALF + 10}`);
});

it("a volume that was removed leaves its room to others", () => {
  const budget = podContentBudget();
  budget.hold("a", MAX_POD_CONTENT_BYTES);
  budget.release("a");
  expect(shown(budget.hold("b", MAX_POD_CONTENT_BYTES))).toBe("held");
});
