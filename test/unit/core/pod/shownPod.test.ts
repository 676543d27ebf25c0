import { expect, it } from "vitest";
import { epochMs } from "../../../../src/core/ids.ts";
import { shownPod } from "../../../../src/core/pod/shownPod.ts";
import { podOf } from "../../../support/pods.ts";

const STATIC = { "kubernetes.io/config.source": "file" };
const startTime = "2026-01-01T00:00:00Z";
const REMOVAL = { since: epochMs(Date.UTC(2026, 0, 1, 1)), graceSeconds: 30 };

it("uses a static pod's start time as its creation time", () => {
  const pod = { ...podOf({ annotations: STATIC }), status: { startTime } };
  expect(shownPod(pod, undefined)).toEqual({ ...pod, metadata: { ...pod.metadata, creationTimestamp: startTime } });
});

it("marks a removed static pod with the end of its grace period, as an API server would", () => {
  const { metadata } = shownPod(podOf({ annotations: STATIC }), REMOVAL);
  expect([metadata.deletionTimestamp, metadata.deletionGracePeriodSeconds]).toEqual(["2026-01-01T01:00:30Z", 30]);
});

it("leaves a pod from an API server unchanged", () => {
  const pod = podOf({ annotations: { "kubernetes.io/config.source": "api" } });
  expect(shownPod(pod, REMOVAL)).toBe(pod);
});
