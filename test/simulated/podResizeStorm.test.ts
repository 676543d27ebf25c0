/** Many resizes at once, under a runtime that fails and a kubelet that crashes: what everything comes to once that ends. */
import { describe, expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { kubeletError } from "../../src/core/errors.ts";
import { podRequests } from "../../src/core/resources/podResources.ts";
import { resourceMilli, resourceValue } from "../../src/core/resources/resourceList.ts";
import { createPrng } from "../../src/sim/prng.ts";
import { podNode } from "../support/podNode.ts";
import { containerOf, podOf } from "../support/pods.ts";

const MIB = 1024 ** 2;
const CPUS = 8000;
const UIDS = ["a", "b", "c", "d", "e", "f"];

/** A Guaranteed pod of one container; every third is restarted for memory, every other has a priority. */
function sized(uid: string, cpuMilli: number, memoryMib: number, generation: number): Pod {
  const index = UIDS.indexOf(uid);
  const size = { cpu: `${cpuMilli}m`, memory: `${memoryMib}Mi` };
  const restartPolicy = index % 3 === 0 ? "RestartContainer" : "NotRequired";
  const container = containerOf({
    resources: { requests: size, limits: size },
    resizePolicy: [{ resourceName: "memory", restartPolicy }],
  });
  const pod = podOf({ uid, name: uid, spec: { dnsPolicy: "Default", priority: index % 2, containers: [container] } });
  return { ...pod, metadata: { ...pod.metadata, generation } };
}

/** Five minutes of changes and faults, then a minute of peace. */
function storm(seed: number) {
  const prng = createPrng(`resize/${seed}`);
  let isCalm = false;
  const made = podNode({
    seed,
    pods: UIDS.map((uid) => sized(uid, 500, 512, 1)),
    callFault: (rpc) => {
      if (isCalm || rpc !== "UpdateContainerResources" || prng.chance(0.6)) return { kind: "proceed" };
      return { kind: "fail", error: kubeletError("Unavailable", "no") };
    },
    fileFault: (operation) => (!isCalm && operation === "replaceFile" && prng.chance(0.2) ? "Io" : undefined),
    cgroupFault: () => (!isCalm && prng.chance(0.1) ? "Io" : undefined),
  });
  const { node } = made;
  let isUp = true;
  for (let generation = 2; generation < 60; generation += 1) {
    node.runFor(prng.pick([0, 3, 20, 2_000, 15_000]));
    if (prng.chance(0.15) || !isUp) {
      if (isUp) node.crashKubelet();
      else node.restartKubelet();
      isUp = !isUp;
    } else {
      node.putPod(sized(prng.pick(UIDS), prng.int(1, 50) * 100, prng.int(1, 64) * 64, generation));
    }
  }
  isCalm = true;
  if (!isUp) node.restartKubelet();
  node.runFor(60_000);
  return made;
}

describe("after a storm of resizes", () => {
  it.each(Array.from({ length: 12 }, (_, seed) => seed))("seed %i: all is granted that fits, and in force", (seed) => {
    const { node, count, check } = storm(seed);
    // The allocation of a rejected pod is not checkpointed: the next kubelet may have no capacity left for it.
    const isRefused = ({ status }: Pod): boolean => status?.reason === "OutOfcpu";
    const refused = node.pods().filter(isRefused);
    expect(refused.map(({ metadata: { name } }) => count(`CreateContainer ${name}/`))).toEqual(refused.map(() => 0));
    const pods = node.pods().filter((pod) => !isRefused(pod));
    const sizes = pods.map((pod) => {
      const { allocatedResources = {} } = pod.status?.containerStatuses?.[0] ?? {};
      const allocated = podRequests({
        spec: { containers: [containerOf({ resources: { requests: allocatedResources } })] },
      });
      const wanted = podRequests(pod);
      const sandboxes = node.runtime.sandboxes().filter(({ config }) => config.metadata?.uid === pod.metadata.uid);
      const [running] = node.runtime
        .containers()
        .filter(({ phase, sandboxId }) => phase.kind === "running" && sandboxes.some(({ id }) => id === sandboxId));
      const cgroup = node.cgroups.all().get(`/kubepods/pod${pod.metadata.uid}`);
      return {
        uid: pod.metadata.uid,
        allocated: [Number(resourceMilli(allocated, "cpu")), Number(resourceValue(allocated, "memory")) / MIB],
        wanted: [Number(resourceMilli(wanted, "cpu")), Number(resourceValue(wanted, "memory")) / MIB],
        container: [Number(running?.resources?.cpuQuota) / 100, Number(running?.resources?.memoryLimitInBytes) / MIB],
        cgroup: [Number(cgroup?.cpuQuotaUs) / 100, Number(cgroup?.memoryLimitBytes) / MIB],
        reported: pod.status?.conditions
          ?.filter(({ type }) => type.startsWith("PodResize"))
          .map(({ reason }) => reason),
      };
    });
    for (const size of sizes) {
      expect({ ...size, container: size.allocated, cgroup: size.allocated }).toEqual(size);
    }
    const used = sizes.reduce((sum, { allocated: [cpu = 0] }) => sum + cpu, 0);
    expect([sizes.length, used <= CPUS]).toEqual([UIDS.length - refused.length, true]);
    for (const { allocated, wanted, reported } of sizes) {
      const isGranted = String(allocated) === String(wanted);
      expect(reported).toEqual(isGranted ? [] : ["Deferred"]);
      // A resize that still waits does not fit in the CPU capacity; memory always fits.
      if (!isGranted) expect(used - (allocated[0] ?? 0) + (wanted[0] ?? 0) > CPUS).toBe(true);
    }
    check();
  });
});
