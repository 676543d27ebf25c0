import { describe } from "vitest";
import { againAll } from "./againAll.ts";
import { CHECKER_SEEDS, SMALL_CHECKER_SEEDS } from "./regressionSeeds.ts";

describe("a node under all faults, where seeds once found a checker that was wrong", () => {
  againAll(CHECKER_SEEDS, SMALL_CHECKER_SEEDS);
});
