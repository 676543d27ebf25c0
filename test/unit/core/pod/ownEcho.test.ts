import { describe, expect, it } from "vitest";
import type { PodStatus } from "../../../../src/core/api.ts";
import { isOwnEcho } from "../../../../src/core/pod/ownEcho.ts";
import type { PodCommand } from "../../../../src/core/pod/podRegistry.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { podOf } from "../../../support/pods.ts";

type SyncCommand = PodCommand & { readonly phase: "sync" };

const identity = { uid: podUid("uid-1"), name: "plain", namespace: "demo" };
const known = podOf();
const before: SyncCommand = { phase: "sync", identity, pod: { ...known, status: { phase: "Pending" } } };
const withStatus = (status: PodStatus | undefined): SyncCommand => ({
  ...before,
  pod: { ...known, metadata: { ...known.metadata, resourceVersion: "2" }, ...(status && { status }) },
});

describe("the answer to a status of the kubelet", () => {
  it.each<[string, PodStatus]>([
    ["phase", { phase: "Running" }],
    ["addresses and times", { phase: "Running", podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }], startTime: "now" }],
    ["conditions", { phase: "Running", conditions: [{ type: "Ready", status: "True" }] }],
    ["containers", { phase: "Running", containerStatuses: [] }],
  ])("is news in nothing: %s", (_what, status) => {
    expect(isOwnEcho(before, withStatus(status))).toBe(true);
  });

  it.each<[string, PodCommand]>([
    ["an end", withStatus({ phase: "Failed" })],
    [
      "a condition of others",
      withStatus({ phase: "Pending", conditions: [{ type: "example.com/ready", status: "True" }] }),
    ],
    ["a claim", withStatus({ phase: "Pending", resourceClaimStatuses: [{ name: "gpu", resourceClaimName: "c" }] })],
    [
      "a claim of extended resources",
      withStatus({ extendedResourceClaimStatus: { requestMappings: [], resourceClaimName: "c" } }),
    ],
    ["a field of a newer server", withStatus({ phase: "Pending", later: 1 } as PodStatus)],
    ["another spec", { ...before, pod: { ...before.pod, spec: { ...known.spec } } }],
    ["a label", { ...before, pod: { ...before.pod, metadata: { ...known.metadata, labels: { a: "b" } } } }],
    ["a generation", { ...before, pod: { ...before.pod, metadata: { ...known.metadata, generation: 9 } } }],
    ["a refused resize", { ...before, refused: { type: "Deferred", message: "later" } as never }],
    ["a size of an earlier kubelet", { ...before, restoredSize: {} as never }],
    ["another phase", { phase: "terminated", identity, pod: before.pod, remove: false }],
  ])("is none with %s", (_what, command) => {
    expect(isOwnEcho(before, command)).toBe(false);
  });

  it("needs a sync command before", () => {
    const ending: PodCommand = { phase: "terminated", identity, pod: before.pod, remove: false };
    expect([isOwnEcho(undefined, before), isOwnEcho(ending, before)]).toEqual([false, false]);
  });
});
