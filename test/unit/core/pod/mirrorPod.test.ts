import { describe, expect, it } from "vitest";
import { isMirrorPod, isOfEarlierLife, mirrorHash, mirrorPod } from "../../../../src/core/pod/mirrorPod.ts";
import type { ApiContainerStatus, PodStatus } from "../../../../src/core/api.ts";
import { podOf } from "../../../support/pods.ts";

describe("mirrorPod", () => {
  const annotations = {
    "kubernetes.io/config.hash": "hash",
    "kubernetes.io/config.seen": "2026-01-01T00:00:00Z",
    "kubernetes.io/config.source": "file",
  };
  const pod = podOf({ uid: "hash", labels: { app: "web" }, annotations });
  const mirror = mirrorPod({ ...pod, status: { phase: "Pending" } }, { name: "one", uid: "uid-node" });

  it("has the pod's name, a mark and the node as owner, and no UID or status of its own", () => {
    expect(mirror).toEqual({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "plain",
        namespace: "demo",
        labels: { app: "web" },
        annotations: { ...annotations, "kubernetes.io/config.mirror": "hash" },
        ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "one", uid: "uid-node", controller: true }],
      },
      spec: pod.spec,
    });
  });

  it("is recognized by its mark", () => {
    expect([isMirrorPod(mirror), mirrorHash(mirror), isMirrorPod(pod), mirrorHash(pod)]).toEqual([
      true,
      "hash",
      false,
      undefined,
    ]);
  });
});

describe("isOfEarlierLife", () => {
  const reported = (state: ApiContainerStatus["state"], phase = "Running"): PodStatus => ({
    phase,
    containerStatuses: [{ name: "main", image: "", imageID: "", ready: false, restartCount: 0, state: state ?? {} }],
  });
  const [runs, waits] = [reported({ running: {} }), reported({ waiting: {} })];
  const ended = (exitCode: number): PodStatus => reported({ terminated: { exitCode } });
  it.each([
    ["a container that ended well runs", ended(0), runs, "OnFailure", true],
    ["or is to run", ended(0), waits, "Never", true],
    ["a container that failed runs again", ended(1), runs, "OnFailure", false],
    ["a container with policy Always runs again", ended(0), runs, "Always", false],
    ["it is still over", ended(0), ended(0), "Never", false],
    ["the pod was terminal and is not", reported({ terminated: { exitCode: 1 } }, "Failed"), runs, "Always", true],
  ])("%s", (_, mirrored, own, restartPolicy, isEarlier) => {
    expect(isOfEarlierLife(mirrored, own, podOf({ spec: { restartPolicy } }))).toBe(isEarlier);
  });
});
