import { describe, expect, it } from "vitest";
import type { AllocationRecord } from "../../../../src/core/allocation/allocationFile.ts";
import { podUid } from "../../../../src/core/ids.ts";
import type { PodOperation } from "../../../../src/core/pod/podUpdate.ts";
import type { RegistryInput } from "../../../../src/core/pod/podRegistryTypes.ts";
import { resizeTrigger } from "../../../../src/core/pod/registryResizes.ts";
import { registryNode, reported, sizedPod } from "../../../support/registryNode.ts";
import { pod } from "../samples.ts";

const uid = podUid("uid");
const update = (op: PodOperation): RegistryInput => ({ kind: "update", update: { op, source: "api", pods: [] } });

describe("resizeTrigger", () => {
  it.each<readonly [RegistryInput, ReturnType<typeof resizeTrigger>]>([
    [update("ADD"), "pods_added"],
    [update("UPDATE"), "pod_updated"],
    [update("RECONCILE"), "pod_updated"],
    [update("REMOVE"), "pods_removed"],
    [update("DELETE"), "pods_removed"],
    [{ kind: "removed", uid }, "pods_removed"],
    [{ kind: "stopped", uid }, "pod_terminated"],
    [{ kind: "kept", uid, pod: pod() }, "pod_resized"],
    [{ kind: "resync" }, "periodic_retry"],
    [{ kind: "drain" }, undefined],
    [{ kind: "finished", uid }, undefined],
    [{ kind: "overdue", uid, for: "everyone" }, undefined],
    [{ kind: "reclaimed", uid }, undefined],
    [{ kind: "restored", allocations: new Map<ReturnType<typeof podUid>, AllocationRecord>() }, undefined],
  ])("follows from the input: %o", (input, trigger) => {
    expect(resizeTrigger(input)).toBe(trigger);
  });
});

it("a resize waits until every source has reported, because the demand is unknown before", () => {
  const node = registryNode().send(reported("ADD", sizedPod("web", "1")));
  const granted = () => node.record("web")?.allocated?.spec.containers[0]?.resources?.requests?.["cpu"];
  node.context = { ...node.context, sourcesReady: false };
  node.send(reported("UPDATE", sizedPod("web", "2", { generation: 2 })));
  expect([granted(), node.registry.resizing]).toEqual(["1", ["web"]]);
  node.context = { ...node.context, sourcesReady: true };
  node.send({ kind: "resync" });
  expect([granted(), node.registry.resizing]).toEqual(["2", []]);
});
