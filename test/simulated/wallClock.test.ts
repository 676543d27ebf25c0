/** Effects of a wall clock change on pods with deadlines, on a whole simulated node. */
import { describe, expect, it } from "vitest";
import { createSimNode, type SimNode } from "../../src/sim/simNode.ts";
import { exitsWith } from "../../src/sim/runtime/simProgram.ts";
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

describe("a deadline after the wall clock was set", () => {
  const nodeOf = () => createSimNode({ seed: 1, pods: [podOf({ spec: { activeDeadlineSeconds: 600 } })] });
  const reason = (node: SimNode) => node.pods()[0]?.status?.reason;

  it("forward is noticed within 10 s if the deadline has passed", () => {
    const node = nodeOf();
    node.runFor(60_000);
    node.clock.stepWallBy(530_000);
    node.runFor(1_000);
    expect(reason(node)).toBeUndefined();
    node.runFor(11_000);
    expect(reason(node)).toBe("DeadlineExceeded");
    expect(node.violations).toEqual([]);
  });

  it("backward is no further away than before", () => {
    const node = nodeOf();
    node.runFor(540_000);
    node.clock.stepWallBy(-7_200_000);
    node.runFor(50_000);
    expect(reason(node)).toBeUndefined();
    node.runFor(20_000);
    expect(reason(node)).toBe("DeadlineExceeded");
    expect(node.violations).toEqual([]);
  });
});
