import { describe, expect, it } from "vitest";
import { isMirrorPod, mirrorHash, mirrorPod } from "../../../../src/core/pod/mirrorPod.ts";
import { podOf } from "../../../support/pods.ts";

describe("mirrorPod", () => {
  const annotations = {
    "kubernetes.io/config.hash": "hash",
    "kubernetes.io/config.seen": "2026-01-01T00:00:00Z",
    "kubernetes.io/config.source": "file",
  };
  const pod = podOf({ uid: "hash", labels: { app: "web" }, annotations });
  const mirror = mirrorPod({ ...pod, status: { phase: "Pending" } }, { name: "one", uid: "uid-node" });

  it("shows the pod under its name, marked and owned by the node, without UID and status of its own", () => {
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

  it("is known by its mark", () => {
    expect([isMirrorPod(mirror), mirrorHash(mirror), isMirrorPod(pod), mirrorHash(pod)]).toEqual([
      true,
      "hash",
      false,
      undefined,
    ]);
  });
});
