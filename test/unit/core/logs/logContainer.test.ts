import { describe, expect, it } from "vitest";
import type { ApiContainerStatus, Pod, PodStatus } from "../../../../src/core/api.ts";
import { hasContainer, logContainerId } from "../../../../src/core/logs/logContainer.ts";

const pod = (status: PodStatus): Pod => ({
  metadata: { name: "web", namespace: "default", uid: "1" },
  spec: {
    containers: [{ name: "main" }],
    initContainers: [{ name: "init" }],
    ephemeralContainers: [{ name: "debug" }],
  },
  status,
});
const status = (more: Partial<ApiContainerStatus>): ApiContainerStatus => ({
  name: "main",
  image: "i",
  imageID: "i",
  ready: false,
  restartCount: 0,
  ...more,
});
const ended = (containerID: string) => ({ terminated: { exitCode: 1, containerID } });
const waiting = (reason: string) => ({ waiting: { reason } });
const where = 'container "main" in pod "web"';

describe("logContainerId", () => {
  it.each<[string, Partial<ApiContainerStatus>, boolean, string | undefined, string?]>([
    ["what runs", { state: { running: {} }, containerID: "c://2", lastState: ended("c://1") }, false, "c://2"],
    ["what ended", { state: ended("c://2"), lastState: ended("c://1") }, false, "c://2"],
    ["the one before, when the last was never made", { state: ended(""), lastState: ended("c://1") }, false, "c://1"],
    ["none, when none was made", { state: ended("") }, false, undefined, `${where} is terminated`],
    [
      "the last, while the next is awaited",
      { state: waiting("CrashLoopBackOff"), lastState: ended("c://1") },
      false,
      "c://1",
    ],
    [
      "none, when the last was lost",
      { state: waiting("x"), lastState: ended("") },
      false,
      undefined,
      `${where} is terminated`,
    ],
    [
      "the one before what runs",
      { state: { running: {} }, containerID: "c://2", lastState: ended("c://1") },
      true,
      "c://1",
    ],
    [
      "none before the first",
      { state: { running: {} }, containerID: "c://2" },
      true,
      undefined,
      `previous terminated ${where} not found`,
    ],
    [
      "none yet",
      { state: waiting("ContainerCreating") },
      false,
      undefined,
      `${where} is waiting to start: ContainerCreating`,
    ],
    [
      "none without its image",
      { state: waiting("ErrImagePull") },
      false,
      undefined,
      `${where} is waiting to start: image can't be pulled`,
    ],
    [
      "none without its image for long",
      { state: waiting("ImagePullBackOff") },
      false,
      undefined,
      `${where} is waiting to start: trying and failing to pull image`,
    ],
    ["none in no state", {}, false, undefined, `${where} is waiting to start - no logs yet`],
  ])("%s", (_rule, more, previous, id, message) => {
    const expected = id ?? { status: 400, message };
    expect(logContainerId(pod({ containerStatuses: [status(more)] }), "main", previous)).toEqual(expected);
  });

  it("finds containers of all kinds", () => {
    const running = { state: { running: {} }, containerID: "c://1" };
    const kinds: PodStatus = {
      initContainerStatuses: [status({ ...running, name: "init" })],
      ephemeralContainerStatuses: [status({ ...running, name: "debug" })],
    };
    expect(["init", "debug"].map((name) => logContainerId(pod(kinds), name, false))).toEqual(["c://1", "c://1"]);
    expect(logContainerId(pod(kinds), "main", false)).toEqual({ status: 400, message: `${where} is not available` });
    expect(["main", "init", "debug", "other"].map((name) => hasContainer(pod({}), name))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });
});
