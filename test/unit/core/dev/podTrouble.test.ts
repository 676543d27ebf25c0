import { describe, expect, it } from "vitest";
import type { ApiContainerStatus, PodStatus } from "../../../../src/core/api.ts";
import { podTrouble } from "../../../../src/core/dev/podTrouble.ts";
import type { TimelineView } from "../../../../src/core/timeline/timelineView.ts";
import { podOf } from "../../../support/pods.ts";

const of = (status: PodStatus, metadata = {}) => {
  const pod = podOf({ name: "web", namespace: "default" });
  return { ...pod, status, metadata: { ...pod.metadata, ...metadata } };
};
const main = (more: Partial<ApiContainerStatus>): PodStatus => ({
  phase: "Running",
  containerStatuses: [{ name: "main", image: "i", imageID: "", ready: false, restartCount: 0, ...more }],
});
const waiting = (reason: string, message?: string) => ({
  waiting: { reason, ...(message === undefined ? {} : { message }) },
});
const viewOf = (...waits: TimelineView["waits"]): TimelineView => ({
  pod: { namespace: "default", name: "web", uid: "u" },
  state: "syncing",
  stateSince: "",
  at: "",
  waits,
  entries: [],
  dropped: 0,
});
const VIEW = viewOf({ what: "Sync" }, { what: "Volume", cause: 'v: configmap "missing" not found' });

describe("podTrouble", () => {
  it.each<[string, PodStatus, string | undefined]>([
    ["a pod that was refused", { phase: "Failed", message: "Pod was rejected: no" }, "Pod was rejected: no"],
    ["a pod that runs", main({ state: { running: {} } }), undefined],
    ["a container that waits", main({ state: waiting("ImagePullBackOff", "no such image") }), "main: no such image"],
    ["a container that starts", main({ state: waiting("ContainerCreating") }), undefined],
    [
      "a crash loop, by the end before it",
      main({
        state: waiting("CrashLoopBackOff", "back-off 5m0s"),
        lastState: { terminated: { exitCode: 3, reason: "Error" } },
      }),
      "main: ended with exit code 3",
    ],
    [
      "an end with a reason and a message",
      main({ state: { terminated: { exitCode: 128, reason: "StartError", message: "no such program" } } }),
      "main: ended with exit code 128 (StartError): no such program",
    ],
    ["a good end", main({ state: { terminated: { exitCode: 0, reason: "Completed" } } }), undefined],
    ["a pod that is over", { ...main({ state: { terminated: { exitCode: 1 } } }), phase: "Succeeded" }, undefined],
  ])("tells of %s", (_, status, text) => {
    expect(podTrouble(of(status), undefined)).toBe(text);
  });

  it("tells of an init container before the others", () => {
    const init = { name: "first", image: "i", imageID: "", ready: false, restartCount: 0 };
    const status = { ...main({ state: waiting("PodInitializing") }), initContainerStatuses: [init] };
    const ended = { ...init, state: { terminated: { exitCode: 2 } } };
    expect(podTrouble(of({ ...status, initContainerStatuses: [ended] }), undefined)).toBe(
      "first: ended with exit code 2",
    );
  });

  it("takes the cause of a wait where the status has none", () => {
    expect(podTrouble(of(main({ state: waiting("ContainerCreating") })), VIEW)).toBe(
      'Volume: v: configmap "missing" not found',
    );
  });

  it.each([
    ["ImagePull", "nginx", 60, undefined],
    ["ReadinessProbe", "does not succeed", 4, undefined],
    ["ReadinessProbe", "does not succeed", 5, "main ReadinessProbe: does not succeed"],
    ["StartupProbe", "does not succeed", 5, "main StartupProbe: does not succeed"],
  ])("takes of a wait for %s (%s), after %i s: %s", (what, cause, seconds, text) => {
    const view = viewOf({ what, container: "main", cause, seconds });
    expect(podTrouble(of(main({ state: { running: {} } })), view)).toBe(text);
  });

  it("is silent about a pod that is being removed", () => {
    const leaving = of({ phase: "Failed", message: "no" }, { deletionTimestamp: "2026-01-01T00:00:00Z" });
    expect(podTrouble(leaving, VIEW)).toBeUndefined();
  });
});
