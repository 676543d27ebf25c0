import { expect, it } from "vitest";
import { noBusyLoop } from "../../../src/sim/checkers/noBusyLoop.ts";

it("reports a minute with too many actions once and counts each minute from zero", () => {
  const pace = noBusyLoop(10);
  const found = (atMs: number, actions: number): readonly (string | undefined)[] =>
    Array.from({ length: actions }, () => pace(atMs)).filter((said) => said !== undefined);
  expect(found(0, 11_000)).toEqual([]);
  expect(found(60_000, 11_000)).toEqual([]);
  expect(found(119_999, 2)).toEqual(["more than 11000 actions in one minute"]);
});
