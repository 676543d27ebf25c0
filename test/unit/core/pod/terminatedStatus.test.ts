import { describe, expect, it } from "vitest";
import type { ApiContainerStatus, PodStatus } from "../../../../src/core/api.ts";
import { terminatedPodStatus } from "../../../../src/core/pod/terminatedStatus.ts";
import { container, pod } from "../samples.ts";

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
});
