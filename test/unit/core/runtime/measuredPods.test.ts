import { describe, expect, it } from "vitest";
import { containerId, epochMs, podUid, sandboxId } from "../../../../src/core/ids.ts";
import { measuredPods, uninspectedPods } from "../../../../src/core/runtime/measuredPods.ts";
import { emptyRuntimeStatus, type PodRuntimeStatus } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import { listingOf } from "../../../../src/core/runtime/runtimeListing.ts";
import { statsOfContainers, statsOfSandboxes } from "../../../../src/core/stats/podStats.ts";
import * as cri from "../../../../src/gen/cri.ts";

const uid = podUid("u-1");
const labels = {
  "io.kubernetes.pod.uid": uid,
  "io.kubernetes.pod.name": "web",
  "io.kubernetes.pod.namespace": "demo",
};
const nanos = (seconds: number) => BigInt(seconds) * 1_000_000_000n;
const listed = {
  sandboxes: [
    cri.PodSandbox.fromPartial({ id: "s0", labels, metadata: { attempt: 0 }, state: 1, createdAt: nanos(9) }),
    cri.PodSandbox.fromPartial({ id: "s1", labels, metadata: { attempt: 1 }, state: 0, createdAt: nanos(2) }),
  ],
  containers: [
    cri.Container.fromPartial({
      ...{ id: "c0", labels, metadata: { name: "main", attempt: 0 }, podSandboxId: "s0" },
      ...{ state: cri.ContainerState.CONTAINER_EXITED, createdAt: nanos(9) },
    }),
    cri.Container.fromPartial({
      ...{ id: "c1", labels, metadata: { name: "main", attempt: 1 }, podSandboxId: "s1" },
      ...{ state: cri.ContainerState.CONTAINER_RUNNING, createdAt: nanos(3) },
    }),
  ],
};
const known = (sequence: number, hostNetwork = false): PodRuntimeStatus => ({
  ...emptyRuntimeStatus(uid, "web", "demo", sequence),
  sandboxes: [
    {
      ...{ id: sandboxId("s1"), attempt: 1, ready: false, createdAt: epochMs(2_000), ips: [], hostNetwork },
      ...{ labels: {}, annotations: {} },
    },
  ],
});
const seenWith = (status: PodRuntimeStatus | undefined) =>
  uninspectedPods([uid, podUid("gone")], listed, listingOf(listed.sandboxes, listed.containers), (asked) =>
    asked === uid ? status : undefined,
  );
const asListed = {
  podUid: uid,
  name: "web",
  namespace: "demo",
  sandboxes: [
    { id: sandboxId("s1"), ready: true, createdAt: epochMs(2_000), hostNetwork: true },
    { id: sandboxId("s0"), ready: false, createdAt: epochMs(9_000), hostNetwork: true },
  ],
  containers: [
    { id: containerId("c1"), name: "main", state: "running", createdAt: epochMs(3_000) },
    { id: containerId("c0"), name: "main", state: "exited", createdAt: epochMs(9_000) },
  ],
  inspection: 0,
};

describe("the pods whose usage is measured", () => {
  it("a pod that was never inspected is known as listed, the newest attempt first", () => {
    expect(seenWith(undefined)).toEqual(new Map([[uid, asListed]]));
    expect(measuredPods([], seenWith(undefined))).toEqual([asListed]);
  });

  it("a pod keeps the network of a sandbox that was inspected", () => {
    const networks = seenWith(known(4))
      .get(uid)
      ?.sandboxes.map(({ hostNetwork }) => hostNetwork);
    expect(networks).toEqual([false, true]);
  });

  it.each([
    ["as listed until it is inspected again", 4, true],
    ["as inspected once that is newer than the listing", 5, false],
  ])("a pod that has changed is known %s", (_, sequence, isListed) => {
    const [found] = measuredPods([known(sequence)], seenWith(known(4)));
    expect(found?.sandboxes.map(({ ready }) => ready)).toEqual(isListed ? [true, false] : [false]);
  });

  it("pods are as inspected if the last relist found nothing new", () => {
    const inspected = [known(1)];
    expect(measuredPods(inspected, undefined)).toBe(inspected);
  });

  it("a pod whose inspection is late has figures: without any it would be evicted first", () => {
    const pods = measuredPods([], seenWith(undefined));
    const used = { timestamp: nanos(20), workingSetBytes: { value: 7n } };
    const ofContainer = cri.ContainerStats.fromPartial({ attributes: { id: "c1" }, memory: used });
    const ofSandbox = cri.PodSandboxStats.fromPartial({
      attributes: { id: "s1" },
      linux: { memory: used, containers: [ofContainer] },
    });
    const memory = [{ uid, bytes: 7, containers: ["main"] }];
    const figures = (stats: ReturnType<typeof statsOfContainers>) =>
      stats.map((pod) => ({
        uid: pod.podRef.uid,
        bytes: pod.memory?.workingSetBytes,
        containers: pod.containers.map(({ name }) => name),
      }));
    expect(figures(statsOfContainers([ofContainer], pods, () => undefined))).toEqual(memory);
    expect(figures(statsOfSandboxes([ofSandbox], pods, () => undefined))).toEqual(memory);
  });
});
