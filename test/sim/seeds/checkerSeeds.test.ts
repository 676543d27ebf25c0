import { describe } from "vitest";
import { againAll } from "./againAll.ts";
import {
  EARLY_CHECKER_SEEDS,
  CHECKER_SEEDS,
  SMALL_CHECKER_SEEDS,
  SMALL_SCARCE_CHECKER_SEEDS,
} from "./regressionSeeds.ts";

describe("a node under all faults, with seeds that once found a bug of a checker", () => {
  againAll({
    early: EARLY_CHECKER_SEEDS,
    whole: CHECKER_SEEDS,
    small: SMALL_CHECKER_SEEDS,
    smallScarce: SMALL_SCARCE_CHECKER_SEEDS,
  });
});
