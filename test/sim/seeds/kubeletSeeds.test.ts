import { describe } from "vitest";
import { againAll } from "./againAll.ts";
import { KUBELET_SEEDS, SMALL_KUBELET_SEEDS } from "./regressionSeeds.ts";

describe("a node under all faults, where seeds once found a bug of the kubelet", () => {
  againAll(KUBELET_SEEDS, SMALL_KUBELET_SEEDS);
});
