import { describe } from "vitest";
import { againAll } from "./againAll.ts";
import {
  EARLY_KUBELET_SEEDS,
  KUBELET_SEEDS,
  SCARCE_KUBELET_SEEDS,
  SMALL_KUBELET_SEEDS,
  SMALL_SCARCE_KUBELET_SEEDS,
} from "./regressionSeeds.ts";

describe("a node under all faults, with seeds that once found a bug of the kubelet", () => {
  againAll({
    early: EARLY_KUBELET_SEEDS,
    whole: KUBELET_SEEDS,
    small: SMALL_KUBELET_SEEDS,
    scarce: SCARCE_KUBELET_SEEDS,
    smallScarce: SMALL_SCARCE_KUBELET_SEEDS,
  });
});
