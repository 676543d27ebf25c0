import { expect, it } from "vitest";
import type { PodStatus } from "../../../../src/core/api.ts";
import { epochMs } from "../../../../src/core/ids.ts";
import {
  decodeStatusTimes,
  encodeStatusTimes,
  MAX_TIMES_BYTES,
  statusTimes,
} from "../../../../src/core/pod/statusTimes.ts";

const NOW = epochMs(Date.parse("2026-01-02T00:00:00Z"));
const BEFORE = "2026-01-01T10:00:00Z";
const condition = (type: string, lastTransitionTime: string, status = "True") => ({ type, status, lastTransitionTime });
const STATUS = {
  startTime: BEFORE,
  conditions: [
    { ...condition("Ready", BEFORE), reason: "Why", lastProbeTime: null },
    { ...condition("example.com/gate", BEFORE), lastProbeTime: null },
  ],
} as unknown as PodStatus;

it("reads what it wrote: the kubelet's own conditions, and the start", () => {
  const times = statusTimes(STATUS);
  expect(times).toEqual({ startTime: BEFORE, conditions: [condition("Ready", BEFORE)] });
  const text = encodeStatusTimes(times);
  expect([text.length % 512, text.endsWith("\n")]).toEqual([0, true]);
  expect(decodeStatusTimes(text, NOW)).toEqual(times);
});

it("drops times after now, which a wrong clock left", () => {
  const later = "2026-01-02T00:00:01Z";
  const times = { startTime: later, conditions: [condition("Ready", later), condition("Initialized", BEFORE)] };
  expect(decodeStatusTimes(encodeStatusTimes(times), NOW)).toEqual({
    startTime: undefined,
    conditions: [condition("Initialized", BEFORE)],
  });
});

it("holds 32 conditions, and the file is larger than these take", () => {
  const conditions = Array.from({ length: 33 }, () => condition("PodReadyToStartContainers", BEFORE));
  expect(statusTimes({ conditions }).conditions).toHaveLength(32);
  expect(decodeStatusTimes(encodeStatusTimes({ startTime: BEFORE, conditions }), NOW)).toBeUndefined();
  const full = encodeStatusTimes({ startTime: BEFORE, conditions: conditions.slice(1) });
  expect(decodeStatusTimes(full, NOW)?.conditions).toHaveLength(32);
  expect(full.length).toBeLessThan(MAX_TIMES_BYTES);
});

it.each([
  "",
  "[]",
  "{}",
  '{"version":2,"conditions":[]}',
  '{"version":1,"conditions":[3]}',
  '{"version":1,"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"yesterday"}]}',
  '{"version":1,"conditions":[{"type":1,"status":"True","lastTransitionTime":"2026-01-01T10:00:00Z"}]}',
  '{"version":1,"startTime":5,"conditions":[]}',
  encodeStatusTimes(statusTimes(STATUS)).slice(0, 40),
])("refuses %j", (text) => {
  expect(decodeStatusTimes(text, NOW)).toBeUndefined();
});
