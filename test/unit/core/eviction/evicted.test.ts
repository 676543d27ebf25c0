import { expect, it } from "vitest";
import {
  evictedEvent,
  evictedStatus,
  evictionGraceSeconds,
  IMMEDIATE_EVICTION_GRACE_SECONDS,
} from "../../../../src/core/eviction/evicted.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { podEventObject } from "../../../../src/core/pod/podEvents.ts";
import { pod } from "../samples.ts";

it.each([
  ["a hard threshold", 0, 30, 100, 1],
  ["a hard threshold, whatever the pod says", 0, 0, 100, 1],
  ["a soft threshold: that of the pod", 1, 30, 100, 30],
  ["a soft threshold: no longer than allowed", 1, 300, 100, 100],
  ["a soft threshold, the pod says nothing", 1, undefined, 100, 100],
])("the grace period at %s", (_, graceMs, own, max, expected) => {
  const subject = pod(own === undefined ? {} : { terminationGracePeriodSeconds: own });
  expect(evictionGraceSeconds({ graceMs }, subject, max)).toBe(expected);
  expect(IMMEDIATE_EVICTION_GRACE_SECONDS).toBe(1);
});

it.each([
  [true, { disruption: "low" }],
  [false, {}],
])("the status is Failed with upstream's reason, disrupted: %s", (isDisrupted, more) => {
  const order = { uid: podUid("uid"), message: "low", graceSeconds: 1, isDisrupted };
  expect(evictedStatus(order)).toEqual({ phase: "Failed", reason: "Evicted", message: "low", ...more });
});

it("the event is a warning with upstream's reason", () => {
  const subject = pod();
  const event = { type: "Warning", reason: "Evicted", message: "low", object: podEventObject(subject) };
  expect(evictedEvent(subject, "low", { a: "b" })).toEqual({ ...event, annotations: { a: "b" } });
  expect(evictedEvent(subject, "low")).toEqual({ ...event, annotations: {} });
});
