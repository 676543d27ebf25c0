/** The CSINode of a node: which requests are made when, as Nodes come and the server answers well or badly. */
import { describe, expect, it } from "vitest";
import type { Node } from "../../../../src/core/api.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { csiNode } from "../../../../src/pipelines/cluster/keepCsiNode.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { fixedRng } from "../../../support/fixedRng.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";
import { simApi } from "../../../support/simApi.ts";

/** A server of the node n1, what was asked of it and when; the first `failures` requests fail. */
function world(failures = 0) {
  const asked: string[] = [];
  const api = simApi({
    intercept(verb, resource) {
      asked.push(`${api.scheduler.now()} ${verb} ${resource}`);
      return asked.length > failures
        ? { kind: "proceed" }
        : { kind: "fail", error: kubeletError("PermissionDenied", "no") };
    },
  });
  const { scheduler, server } = api;
  const node = createCell<Node | undefined>(undefined);
  const telemetry = recordingTelemetry();
  const writer = { api: api.node("n1"), clock: api.clock, rng: fixedRng(0), telemetry, nodeName: "n1", node };
  const subscription = csiNode(writer).subscribe();
  return {
    server,
    node,
    asked,
    /** Makes the Node, or changes it, and has it known. */
    know: (labels: Record<string, string> = {}) => node.set(server.put("nodes", { metadata: { name: "n1", labels } })),
    owner: () => server.object("csinodes", { name: "n1" })?.metadata?.ownerReferences?.[0]?.uid,
    runTo(ms: number): void {
      while (scheduler.runNext(ms));
      scheduler.advanceTo(ms);
    },
    end: () => subscription.unsubscribe(),
  };
}

describe("csiNode", () => {
  it("waits for the Node, then creates the CSINode once", () => {
    const { know, runTo, asked, owner, node } = world();
    runTo(1_000);
    know();
    runTo(2_000);
    know({ changed: "yes" });
    runTo(60_000);
    expect(asked).toEqual(["1000 get csinodes", "1002 create csinodes"]);
    expect(owner()).toBe(node.value?.metadata?.uid);
  });

  it("finds the CSINode of an earlier kubelet with one request", () => {
    const { know, runTo, asked, server } = world();
    know();
    server.put("csinodes", {
      metadata: {
        name: "n1",
        annotations: {
          "storage.alpha.kubernetes.io/migrated-plugins":
            "kubernetes.io/aws-ebs,kubernetes.io/azure-disk,kubernetes.io/azure-file,kubernetes.io/cinder,kubernetes.io/gce-pd,kubernetes.io/portworx-volume,kubernetes.io/vsphere-volume",
        },
        ownerReferences: [
          {
            apiVersion: "v1",
            kind: "Node",
            name: "n1",
            uid: server.object("nodes", { name: "n1" })?.metadata?.uid ?? "",
          },
        ],
      },
      spec: { drivers: [] },
    });
    runTo(60_000);
    expect(asked).toEqual(["0 get csinodes"]);
  });

  it("creates a new CSINode for a recreated Node", () => {
    const { know, runTo, asked, owner, server, node } = world();
    know();
    runTo(1_000);
    server.delete("nodes", { name: "n1" });
    know();
    runTo(60_000);
    expect(asked.slice(2)).toEqual([
      "1000 get csinodes",
      "1002 delete csinodes",
      "1204 get csinodes",
      "1206 create csinodes",
    ]);
    expect(owner()).toBe(node.value?.metadata?.uid);
  });

  it("retries forever, with pauses that double to a minute", () => {
    const { know, runTo, asked, end } = world(12);
    know();
    runTo(300_000);
    end();
    expect(asked.map((request) => Number(request.split(" ")[0]))).toEqual([
      0, 202, 604, 1_406, 3_008, 6_210, 12_612, 25_414, 51_016, 102_218, 162_220, 222_222, 282_224, 282_226,
    ]);
  });
});
