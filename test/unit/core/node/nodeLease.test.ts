import { describe, expect, it } from "vitest";
import { epochMs } from "../../../../src/core/ids.ts";
import { type Lease, renewedLease } from "../../../../src/core/node/nodeLease.ts";

const HOLDER = { nodeName: "one", nodeUid: "uid-one", durationSeconds: 40 };
const UNOWNED = { ...HOLDER, nodeUid: undefined };
const NOW = epochMs(Date.UTC(2026, 0, 2, 3, 4, 5, 6));
const OWNER = { apiVersion: "v1", kind: "Node", name: "one", uid: "uid-one" };

describe("the lease of a node", () => {
  it("names the node as its owner, holder and self, and the time to the microsecond", () => {
    expect(renewedLease(undefined, HOLDER, NOW)).toEqual({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "one", namespace: "kube-node-lease", ownerReferences: [OWNER] },
      spec: { holderIdentity: "one", leaseDurationSeconds: 40, renewTime: "2026-01-02T03:04:05.006000Z" },
    });
  });

  it("has no owner while the UID of the node is unknown", () => {
    expect(renewedLease(undefined, UNOWNED, NOW).metadata).toEqual({ name: "one", namespace: "kube-node-lease" });
  });

  it("keeps its owner, version and holder when it is renewed", () => {
    const base: Lease = {
      metadata: { name: "one", resourceVersion: "7", ownerReferences: [OWNER] },
      spec: { holderIdentity: "another", leaseTransitions: 3, leaseDurationSeconds: 10 },
    };
    expect(renewedLease(base, { ...HOLDER, nodeUid: "new" }, NOW).metadata).toEqual({
      ...base.metadata,
      ownerReferences: [{ ...OWNER, uid: "new" }],
    });
    const { metadata, spec } = renewedLease(base, UNOWNED, NOW);
    expect([metadata, spec]).toEqual([
      base.metadata,
      { ...base.spec, leaseDurationSeconds: 40, renewTime: "2026-01-02T03:04:05.006000Z" },
    ]);
  });
});
