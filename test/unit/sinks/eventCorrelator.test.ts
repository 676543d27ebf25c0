import { expect, it } from "vitest";
import { epochMs, monotonicMs } from "../../../src/core/ids.ts";
import { createEventCorrelator } from "../../../src/sinks/eventCorrelator.ts";

it("each series begins at a time of its own, which never goes back", () => {
  const correlator = createEventCorrelator();
  const beganAt = (name: string, wallMs: number): bigint | undefined =>
    correlator.correlate(
      {
        type: "Normal",
        reason: "Pulled",
        message: "m",
        object: { kind: "Pod", namespace: "demo", name, uid: name, fieldPath: "" },
      },
      monotonicMs(0),
      epochMs(wallMs),
    )?.beganNs;
  expect([beganAt("a", 5), beganAt("b", 5), beganAt("c", 7), beganAt("d", 6), beganAt("a", 9)]).toEqual([
    5_000_000n,
    5_000_001n,
    7_000_000n,
    7_000_001n,
    5_000_000n,
  ]);
});
