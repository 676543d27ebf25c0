import { describe, expect, it } from "vitest";
import type { ApiContainerStatus, PodStatus } from "../../../../src/core/api.ts";
import { terminatedPodStatus } from "../../../../src/core/pod/terminatedStatus.ts";
import { container, pod, sidecar } from "../samples.ts";

const status = (name: string, state: ApiContainerStatus["state"]): ApiContainerStatus => ({
  name,
  ...(state === undefined ? {} : { state }),
  lastState: {},
  ready: false,
  restartCount: 0,
  image: "",
  imageID: "",
});
const waiting = { waiting: { reason: "PodInitializing" } };
const done = { terminated: { exitCode: 0 } };
const lost = {
  terminated: {
    exitCode: 137,
    reason: "ContainerStatusUnknown",
    message: "The container could not be located when the pod was terminated",
    startedAt: null,
    finishedAt: null,
  },
};
const inits = pod({ initContainers: [container("i1"), container("i2"), container("i3")] });

describe("terminatedPodStatus", () => {
  it("terminates every container of an initialized pod, and fails the pod", () => {
    const before: PodStatus = { phase: "Running", containerStatuses: [status("web", waiting), status("b", done)] };
    expect(terminatedPodStatus(pod(), before)).toEqual({
      phase: "Failed",
      containerStatuses: [status("web", lost as never), status("b", done)],
    });
  });
  it("leaves the phase Succeeded unchanged", () => {
    const before: PodStatus = { phase: "Succeeded", containerStatuses: [status("web", done)] };
    expect(terminatedPodStatus(pod(), before)).toEqual(before);
  });
  it("leaves containers that never started unchanged", () => {
    const before: PodStatus = {
      phase: "Pending",
      initContainerStatuses: [status("i1", done), status("i2", { running: {} }), status("i3", waiting)],
      containerStatuses: [status("web", waiting)],
    };
    expect(terminatedPodStatus(inits, before)).toEqual({
      phase: "Failed",
      initContainerStatuses: [status("i1", done), status("i2", lost as never), status("i3", waiting)],
      containerStatuses: [status("web", waiting)],
    });
  });
  it("gives a static pod no terminal phase", () => {
    const metadata = { name: "web", namespace: "default", uid: "uid" };
    const annotations = { "kubernetes.io/config.source": "file" };
    const before: PodStatus = { phase: "Running", containerStatuses: [status("web", done)] };
    expect(terminatedPodStatus(pod({}, { metadata: { ...metadata, annotations } }), before)).toEqual(before);
  });

  const beforeSidecar = pod({ initContainers: [container("i1"), sidecar("s")] });
  const started = { ...status("s", { running: {} }), started: true };
  it.each<[string, ReturnType<typeof pod>, readonly ApiContainerStatus[], boolean]>([
    ["the last init container succeeded", inits, [status("i3", done)], true],
    ["the last init container failed", inits, [status("i3", { terminated: { exitCode: 1 } })], false],
    ["the last init container has no status", inits, [status("i1", done), status("i2", done)], false],
    ["the last sidecar has started", beforeSidecar, [status("i1", done), started], true],
    ["the last sidecar has not started", beforeSidecar, [status("i1", done), status("s", { running: {} })], false],
    ["the last sidecar has ended before it started", beforeSidecar, [status("i1", done), status("s", done)], false],
  ])("terminates containers that wait if the pod was initialized: %s", (_, subject, init, isInitialized) => {
    const { containerStatuses } = terminatedPodStatus(subject, {
      initContainerStatuses: init,
      containerStatuses: [status("web", waiting)],
    });
    expect(containerStatuses).toEqual([status("web", isInitialized ? (lost as never) : waiting)]);
  });

  it.each<[string, ApiContainerStatus, boolean]>([
    ["runs", status("web", { running: {} }), true],
    ["has ended", status("web", done), true],
    ["ended before", { ...status("web", waiting), lastState: done }, true],
    ["never ran", status("web", waiting), false],
  ])("counts a pod as initialized once one of its containers %s", (_, web, isInitialized) => {
    const { containerStatuses } = terminatedPodStatus(inits, { containerStatuses: [web, status("b", waiting)] });
    expect(containerStatuses?.[1]).toEqual(status("b", isInitialized ? (lost as never) : waiting));
  });

  it("terminates init containers up to the last that ran, before it too", () => {
    const init = [status("i1", waiting), { ...status("i2", waiting), lastState: done }, status("i3", waiting)];
    const { initContainerStatuses } = terminatedPodStatus(inits, { initContainerStatuses: init });
    expect(initContainerStatuses?.map(({ state }) => state)).toEqual([lost, lost, waiting]);
  });
});
