/** What a wall clock that is set does to pods that count by it, on a whole simulated node. */
import { expect, it } from "vitest";
import { createSimNode } from "../../src/sim/simNode.ts";
import { exitsWith } from "../../src/sim/simProgram.ts";
import { podOf } from "../support/pods.ts";

it("a deadline that the clock jumped over does not keep the worker of a crashing container spinning", () => {
  const node = createSimNode({
    seed: 1,
    pods: [podOf({ spec: { activeDeadlineSeconds: 600 } })],
    programs: () => exitsWith(1),
  });
  node.runFor(120_000);
  node.clock.stepWallBy(1_200_000);
  node.runFor(600_000);
  expect(node.pods()[0]?.status).toMatchObject({ phase: "Failed", reason: "DeadlineExceeded" });
  expect(node.violations).toEqual([]);
});
