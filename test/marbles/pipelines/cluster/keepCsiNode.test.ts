/** The CSINode of a node: which requests are made when, as Nodes come and the server answers well or badly. */
import { EMPTY, merge } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Node } from "../../../../src/core/api.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { type CsiDriverFacts, type CsiDrivers, NO_CSI_DRIVERS } from "../../../../src/core/csi/csiDriverFacts.ts";
import { csiNode } from "../../../../src/pipelines/cluster/keepCsiNode.ts";
import { csiMarks } from "../../../../src/pipelines/cluster/markCsiDrivers.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { fixedRng } from "../../../support/fixedRng.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";
import { simApi } from "../../../support/simApi.ts";

/** A server of the node n1, what was asked of it and when; the first `failures` requests fail. */
function world(failures = 0, hasMarks = false) {
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
  const csiDrivers = createCell<CsiDrivers>(NO_CSI_DRIVERS);
  const { clock } = api;
  const writer = { api: api.node("n1"), clock, rng: fixedRng(0), telemetry, nodeName: "n1", node, csiDrivers };
  const subscription = merge(csiNode(writer), hasMarks ? csiMarks(writer) : EMPTY).subscribe();
  return {
    server,
    node,
    asked,
    register: (...drivers: readonly CsiDriverFacts[]) =>
      csiDrivers.set(new Map(drivers.map((driver) => [driver.name, driver]))),
    listed: () => server.object("csinodes", { name: "n1" })?.spec.drivers,
    marks: () => {
      const { annotations, labels } = server.object("nodes", { name: "n1" })?.metadata ?? {};
      return { ids: annotations?.["csi.volume.kubernetes.io/nodeid"], zone: labels?.["topology.example.com/zone"] };
    },
    telemetry,
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

const driver = (name: string, facts: Partial<CsiDriverFacts> = {}): CsiDriverFacts => ({
  name,
  endpoint: `/plugins/${name}/csi.sock`,
  version: [1, 0],
  vendorVersion: "",
  nodeId: `id-of-${name}`,
  maxVolumes: undefined,
  topology: {},
  capabilities: new Set(),
  ...facts,
});

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

describe("the drivers of a node", () => {
  it("are listed in the CSINode while they are registered", () => {
    const { know, runTo, register, listed } = world();
    know();
    runTo(1_000);
    register(driver("a"), driver("b", { maxVolumes: 8, topology: { zone: "z", area: "x" } }));
    runTo(2_000);
    expect(listed()).toEqual([
      { name: "a", nodeID: "id-of-a" },
      { name: "b", nodeID: "id-of-b", topologyKeys: ["area", "zone"], allocatable: { count: 8 } },
    ]);
    register(driver("b", { nodeId: "other" }));
    runTo(3_000);
    expect(listed()).toEqual([{ name: "b", nodeID: "other" }]);
  });

  it("change the CSINode once when they come and go meanwhile", () => {
    const { know, runTo, register, listed, asked } = world();
    know();
    runTo(1_000);
    register(driver("a"));
    register();
    register(driver("a"));
    runTo(2_000);
    expect(listed()).toEqual([{ name: "a", nodeID: "id-of-a" }]);
    expect(asked.filter((request) => request.includes("update"))).toHaveLength(1);
  });

  it("are removed after failures, even when the Node was replaced meanwhile", () => {
    const { know, runTo, register, listed, server } = world();
    know();
    register(driver("a"), driver("b"));
    runTo(1_000);
    register(driver("b"));
    server.delete("nodes", { name: "n1" });
    know();
    runTo(60_000);
    expect(listed()?.map(({ name }) => name)).toEqual(["b"]);
  });

  it("mark the Node with its IDs and labels, and take their IDs back", () => {
    const { know, runTo, register, marks } = world(0, true);
    know({ "topology.example.com/rack": "r1" });
    register(driver("b", { topology: { "topology.example.com/zone": "z" } }), driver("a"));
    runTo(1_000);
    expect(marks()).toEqual({ ids: '{"a":"id-of-a","b":"id-of-b"}', zone: "z" });
    register(driver("a"));
    runTo(2_000);
    expect(marks()).toEqual({ ids: '{"a":"id-of-a"}', zone: "z" });
    register();
    runTo(3_000);
    expect(marks()).toEqual({ ids: undefined, zone: "z" });
  });

  it("mark the Node again after failures, with the newest drivers", () => {
    const { know, runTo, register, marks, telemetry } = world(4, true);
    know();
    register(driver("a"));
    runTo(100);
    register(driver("b"));
    runTo(60_000);
    expect(marks().ids).toBe('{"b":"id-of-b"}');
    expect(telemetry.lines.map(({ message }) => message)).toContain("Failed to mark the Node with its CSI drivers");
  });
});
