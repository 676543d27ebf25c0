/** The next request for a node's CSINode, given the existing one. */
import { describe, expect, it } from "vitest";
import { csiNodeStep } from "../../../../src/core/node/csiNode.ts";

const MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins";
const ALL =
  "kubernetes.io/aws-ebs,kubernetes.io/azure-disk,kubernetes.io/azure-file,kubernetes.io/cinder,kubernetes.io/gce-pd,kubernetes.io/portworx-volume,kubernetes.io/vsphere-volume";
const OWNER = { apiVersion: "v1", kind: "Node", name: "n1", uid: "u1" };
const OWN = { name: "n1", uid: "c1", annotations: { [MIGRATED]: ALL }, ownerReferences: [OWNER] };
const OWNER_OF = { nodeName: "n1", nodeUid: "u1", drivers: { registered: new Map(), gone: new Set<string>() } };
const DRIVERS = [{ name: "csi.example", nodeID: "id" }];

describe("csiNodeStep", () => {
  it("creates a CSINode without drivers that the Node owns", () => {
    expect(csiNodeStep(undefined, OWNER_OF)).toEqual({
      kind: "create",
      object: {
        apiVersion: "storage.k8s.io/v1",
        kind: "CSINode",
        metadata: { name: "n1", annotations: { [MIGRATED]: ALL }, ownerReferences: [OWNER] },
        spec: { drivers: [] },
      },
    });
  });

  it.each([
    ["its own", OWN],
    ["its own, in another order", { ...OWN, annotations: { [MIGRATED]: ALL.split(",").reverse().join(",") } }],
  ])("leaves %s unchanged, whatever drivers it has", (_whose, metadata) => {
    expect(csiNodeStep({ metadata, spec: { drivers: DRIVERS } }, OWNER_OF)).toEqual({ kind: "none" });
  });

  it("corrects the migrated plugins, and keeps drivers and other annotations", () => {
    const existing = {
      metadata: { ...OWN, annotations: { [MIGRATED]: "kubernetes.io/cinder", other: "x" } },
      spec: { drivers: DRIVERS },
    };
    expect(csiNodeStep(existing, OWNER_OF)).toEqual({
      kind: "update",
      object: { metadata: { ...OWN, annotations: { [MIGRATED]: ALL, other: "x" } }, spec: { drivers: DRIVERS } },
    });
  });

  it.each([
    ["an earlier Node of this name", [{ ...OWNER, uid: "u0" }]],
    ["another Node", [{ ...OWNER, name: "n0" }]],
    ["nobody", []],
  ])("replaces a CSINode of %s", (_whose, ownerReferences) => {
    const existing = { metadata: { ...OWN, ownerReferences }, spec: { drivers: [] } };
    expect(csiNodeStep(existing, OWNER_OF)).toEqual({ kind: "delete", uid: "c1" });
  });
});
