import { describe, expect, it } from "vitest";
import { crashLoopPolicy } from "../../../../src/core/backoff.ts";
import { INITIAL_DELAY, MAX_DELAY, steerCrashLoop } from "../../../../src/core/pod/crashLoopSteering.ts";

const NODE = crashLoopPolicy(120_000);
const initial = (text: string) => ({ "rxlet.dev/crash-loop-initial-delay": text });
const max = (text: string) => ({ "rxlet.dev/crash-loop-max-delay": text });
const fault = (key: string, text: string, rest: string) => `metadata.annotations[${key}]: "${text}" ${rest}`;

describe("steerCrashLoop", () => {
  it.each([
    ["nothing asked", undefined, 10_000, 120_000],
    ["other annotations", { "rxlet.dev/retry-at": "x" }, 10_000, 120_000],
    ["a shorter maximum", max("30s"), 10_000, 30_000],
    ["a maximum below the usual first delay lowers that", max("5s"), 5_000, 5_000],
    ["a longer first delay", initial("1m"), 60_000, 120_000],
    ["both", { ...initial("2s"), ...max("8s") }, 2_000, 8_000],
    ["the bounds themselves", { ...initial("1s"), ...max("2m") }, 1_000, 120_000],
  ])("accepts %s", (_title, annotations, initialMs, maxMs) => {
    expect(steerCrashLoop(annotations, NODE)).toEqual({ policy: { ...NODE, initialMs, maxMs }, problems: [] });
  });

  it.each([
    ["no duration", initial("10"), 10_000, INITIAL_DELAY, "10", "is not a duration such as 5s or 1m30s; 10s is used"],
    ["empty", max(""), 10_000, MAX_DELAY, "", "is not a duration such as 5s or 1m30s; 2m0s is used"],
    ["negative", initial("-5s"), 1_000, INITIAL_DELAY, "-5s", "is below the shortest delay; 1s is used"],
    ["too short", initial("1ms"), 1_000, INITIAL_DELAY, "1ms", "is below the shortest delay; 1s is used"],
    ["too long", max("5m"), 10_000, MAX_DELAY, "5m", "is above the longest delay of this node; 2m0s is used"],
    [
      "first over longest",
      initial("3m"),
      120_000,
      INITIAL_DELAY,
      "3m",
      "is above the pod's longest delay; 2m0s is used",
    ],
  ])("reports a problem: %s", (_title, annotations, initialMs, key, text, rest) => {
    const steered = steerCrashLoop(annotations, NODE);
    expect(steered).toEqual({ policy: { ...NODE, initialMs }, problems: [fault(key, text, rest)] });
  });

  it("allows the node's maximum as delay when that is below the shortest delay", () => {
    expect(steerCrashLoop(initial("1ms"), crashLoopPolicy(500)).policy.initialMs).toBe(500);
  });

  it("cuts a long value short", () => {
    const { problems } = steerCrashLoop(initial("x".repeat(10_000)), NODE);
    const rest = "is not a duration such as 5s or 1m30s; 10s is used";
    expect(problems).toEqual([fault(INITIAL_DELAY, "x".repeat(64), rest)]);
  });
});
