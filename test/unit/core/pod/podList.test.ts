import { describe, expect, it } from "vitest";
import { containerId, epochMs, podUid, sandboxId } from "../../../../src/core/ids.ts";
import { podList, runningPodList } from "../../../../src/core/pod/podList.ts";
import {
  emptyRuntimeStatus,
  type PodRuntimeStatus,
  type RuntimeContainer,
  type RuntimeContainerState,
} from "../../../../src/core/runtime/podRuntimeStatus.ts";

const container = (name: string, state: RuntimeContainerState, imageId: string): RuntimeContainer => ({
  id: containerId(`${name}-id`),
  name,
  sandboxId: sandboxId("s"),
  restartCount: 0,
  state,
  createdAt: epochMs(1),
  startedAt: undefined,
  finishedAt: undefined,
  exitedAt: undefined,
  exitCode: 0,
  reason: "",
  message: "",
  image: "busybox",
  imageRef: "busybox@sha256:1",
  imageId,
  specHash: "h",
  logPath: "",
  terminationMessageFile: undefined,
  annotations: {},
});

function runtimePod(name: string, ready: boolean, containers: readonly RuntimeContainer[]): PodRuntimeStatus {
  const sandbox = {
    id: sandboxId("s"),
    attempt: 0,
    ready,
    createdAt: epochMs(1),
    ips: [],
    hostNetwork: false,
    labels: {},
    annotations: {},
  };
  return { ...emptyRuntimeStatus(podUid(`${name}-uid`), name, "demo", 1), sandboxes: [sandbox], containers };
}

describe("podList", () => {
  it("is a v1 PodList whose items have metadata, spec and status, and no kind", () => {
    const metadata = { name: "web", namespace: "demo", uid: "u" };
    const spec = { containers: [{ name: "a", image: "i" }] };
    const pods = [
      { apiVersion: "v1", kind: "Pod", metadata, spec, status: { phase: "Running" } },
      { metadata, spec },
    ];
    expect(podList(pods)).toEqual({
      kind: "PodList",
      apiVersion: "v1",
      metadata: {},
      items: [
        { metadata, spec, status: { phase: "Running" } },
        { metadata, spec, status: {} },
      ],
    });
  });

  it("has empty items without pods", () => {
    expect(podList([])).toEqual({ kind: "PodList", apiVersion: "v1", metadata: {}, items: [] });
  });
});

describe("runningPodList", () => {
  it("lists running containers, oldest first, and null while only the sandbox runs", () => {
    const statuses = [
      runtimePod("web", true, [container("b", "running", "sha256:2"), container("a", "running", "sha256:1")]),
      runtimePod("failing", true, [container("a", "exited", "sha256:1")]),
    ];
    expect(runningPodList(statuses)).toEqual({
      kind: "PodList",
      apiVersion: "v1",
      metadata: {},
      items: [
        {
          metadata: { name: "web", namespace: "demo", uid: "web-uid" },
          spec: {
            containers: [
              { name: "a", image: "sha256:1", resources: {} },
              { name: "b", image: "sha256:2", resources: {} },
            ],
          },
          status: {},
        },
        {
          metadata: { name: "failing", namespace: "demo", uid: "failing-uid" },
          spec: { containers: null },
          status: {},
        },
      ],
    });
  });

  it("omits pods that do not run", () => {
    const statuses = [
      runtimePod("done", false, [container("a", "exited", "sha256:1")]),
      emptyRuntimeStatus(podUid("x"), "gone", "demo", 1),
    ];
    expect(runningPodList(statuses).items).toEqual([]);
  });

  it("lists a pod whose container runs without its sandbox", () => {
    const names = runningPodList([runtimePod("half", false, [container("a", "running", "sha256:1")])]).items;
    expect(names.map(({ metadata }) => metadata.name)).toEqual(["half"]);
  });
});
