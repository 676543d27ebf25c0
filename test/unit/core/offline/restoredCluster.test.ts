import { describe, expect, it } from "vitest";
import { epochMs } from "../../../../src/core/ids.ts";
import type { KeptRecord } from "../../../../src/core/offline/keptRecord.ts";
import { restoredCluster } from "../../../../src/core/offline/restoredCluster.ts";
import { isRestored } from "../../../../src/core/pod/restoredMark.ts";
import { tokenKey } from "../../../../src/core/token/serviceAccountToken.ts";

const NOW = epochMs(Date.UTC(2026, 0, 1));
const pod = {
  metadata: { name: "a", namespace: "demo", uid: "u" },
  spec: { containers: [{ name: "main", image: "i" }] },
};
const secret = { kind: "Secret", metadata: { name: "s", namespace: "demo" }, data: { key: "dmFsdWU=" } };
const wish = {
  namespace: "demo",
  serviceAccount: "robot",
  audiences: [],
  expirationSeconds: 600,
  pod: { name: "a", uid: "u" },
};
const token = { token: "t", expiresAt: 1, lifeMs: 2, wish };
const claim = { metadata: { name: "disk", namespace: "demo" }, spec: { volumeName: "pv1" } };
const volume = { metadata: { name: "pv1" }, spec: { local: { path: "/disk" } } };
const read = (...records: readonly KeptRecord[]) => restoredCluster(records, NOW);

describe("records of a cluster", () => {
  it("give pods with the mark of restored ones, and what they need", () => {
    const cluster = read(
      { kind: "pod", key: "u", value: { ...pod, status: { phase: "Failed" } } },
      { kind: "object", key: "Secret demo/s", value: secret },
      { kind: "token", key: tokenKey(wish), value: token },
      { kind: "claim", key: "demo/disk", value: claim },
      { kind: "volume", key: "pv1", value: volume },
      { kind: "services", key: "", value: [{ metadata: { name: "web" } }] },
      { kind: "runtimeclasses", key: "", value: [["kata", { metadata: { name: "kata" }, handler: "kata" }]] },
    );
    const [restored] = cluster.pods;
    expect({
      restored: restored && [isRestored(restored), restored.status?.phase, restored.metadata.uid],
      objects: [...cluster.objects].map(([key, { kind }]) => [key, kind]),
      tokens: [...cluster.tokens.values()],
      claims: [...cluster.claims],
      volumes: [...cluster.volumes],
      services: cluster.services,
      classes: [...(cluster.runtimeClasses?.keys() ?? [])],
      faults: cluster.faults,
    }).toEqual({
      restored: [true, "Failed", "u"],
      objects: [["Secret demo/s", "found"]],
      tokens: [token],
      claims: [["demo/disk", claim]],
      volumes: [["pv1", volume]],
      services: [{ metadata: { name: "web" } }],
      classes: ["kata"],
      faults: [],
    });
  });

  it.each<[string, KeptRecord, string]>([
    ["a pod without containers", { kind: "pod", key: "u", value: { ...pod, spec: {} } }, "spec.containers"],
    ["a pod of another UID", { kind: "pod", key: "v", value: pod }, "another pod"],
    ["a pod that is a text", { kind: "pod", key: "u", value: "pod" }, ""],
    ["another object", { kind: "object", key: "Secret demo/t", value: secret }, "another object"],
    ["an object that is none", { kind: "object", key: "Secret demo/s", value: null }, "another object"],
    ["an object with a wrong field", { kind: "object", key: "Secret demo/s", value: { ...secret, data: "x" } }, "data"],
    ["a token without a wish", { kind: "token", key: "t", value: { ...token, wish: {} } }, "not a token"],
    ["a token of another name", { kind: "token", key: "t", value: token }, "not a token"],
    ["another claim", { kind: "claim", key: "demo/other", value: claim }, "not a claim of this name"],
    ["a claim that is a text", { kind: "claim", key: "demo/disk", value: "disk" }, "not a claim"],
    ["another volume", { kind: "volume", key: "pv2", value: volume }, "not a volume of this name"],
    ["a volume without a specification", { kind: "volume", key: "pv1", value: { ...volume, spec: 1 } }, "not a volume"],
    ["services that are no list", { kind: "services", key: "", value: {} }, "not a list"],
  ])("with %s say so, and lose no other", (_, bad, reason) => {
    const { faults, pods } = read(bad, {
      kind: "pod",
      key: "w",
      value: { ...pod, metadata: { ...pod.metadata, uid: "w" } },
    });
    expect([faults.length, faults[0]?.kind, faults[0]?.key, pods.length]).toEqual([1, bad.kind, bad.key, 1]);
    expect(faults[0]?.reason).toContain(reason);
    expect(faults[0]?.reason).not.toContain("dmFsdWU=");
  });
});
