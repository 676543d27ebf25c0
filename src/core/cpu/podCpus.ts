/**
 * CPUs of a pod with pod-level resources as a whole, shared out among its containers: those that ask for whole CPUs have
 * theirs alone, the others share the rest. Upstream: AllocatePod of pkg/kubelet/cm/cpumanager/policy_static.go, with the gate
 * PodLevelResourceManagers and the topology manager's scope pod.
 */
import type { Pod } from "../api.ts";
import { isSidecar } from "../pod/containers.ts";
import { podQosClass } from "../pod/qos.ts";
import { podLevelRequests } from "../resources/podResources.ts";
import { resourceMilli } from "../resources/resourceList.ts";
import {
  type ContainerHardware,
  emptyPool,
  type HardwareRefusal,
  type PodHardware,
  WHOLE_POD,
} from "../topology/hardware.ts";
import { chooseCpus, type CpuPolicy, exclusiveCpuCount } from "./cpuPolicy.ts";
import { type CpuSet, cpusOfBoth, cpusWithout, NO_CPUS } from "./cpuSet.ts";

/** Returns how many CPUs the pod gets as a whole: its request, if it is whole and the pod is Guaranteed; else 0. */
export function wholePodCpuCount(pod: Pod): number {
  if (podQosClass(pod) !== "Guaranteed") return 0;
  const milli = resourceMilli(podLevelRequests(pod), "cpu");
  return milli % 1000n === 0n ? Number(milli / 1000n) : 0;
}

/** Returns why the CPUs of the pod leave none to containers that share them; undefined if they suffice. */
export function cpuPoolFault(pod: Pod, policy: CpuPolicy): HardwareRefusal | undefined {
  const total = wholePodCpuCount(pod);
  const init = pod.spec.initContainers ?? [];
  const isSharing = [...init.filter(isSidecar), ...pod.spec.containers].some((it) => countOf(pod, it, policy) === 0);
  let lasting = 0;
  for (const container of init) {
    const count = countOf(pod, container, policy);
    if (isSidecar(container)) lasting += count;
    else if (count > total - lasting) {
      const available = total - lasting;
      return emptyPool(
        "cpus",
        `largest exclusive init container requests ${count} cpus, but only ${available} available`,
      );
    } else if (count === 0 && lasting >= total) {
      return emptyPool("cpus", "pod has shared init containers but no cpus available for them");
    }
  }
  const sum = pod.spec.containers.reduce((all, container) => all + countOf(pod, container, policy), lasting);
  if (!isSharing || sum < total) return undefined;
  return emptyPool(
    "cpus",
    "sum of exclusive container cpu requests equals pod budget, leaving no cpus for shared containers",
  );
}

const countOf = (pod: Pod, container: Pod["spec"]["containers"][number], policy: CpuPolicy): number =>
  exclusiveCpuCount(pod, container, policy);

/** Shares the CPUs of a pod out among its containers; undefined if they do not suffice. The same CPUs have the same result. */
export function sharedOutCpus(pod: Pod, pool: CpuSet, policy: CpuPolicy): PodHardware | undefined {
  const own = new Map<string, ContainerHardware>([[WHOLE_POD, { cpus: pool }]]);
  let sidecars = NO_CPUS;
  for (const container of pod.spec.initContainers ?? []) {
    const count = countOf(pod, container, policy);
    const left = cpusWithout(pool, sidecars);
    if (count === 0) {
      if (!isSidecar(container)) own.set(container.name, { cpus: left });
      continue;
    }
    const cpus = chooseCpus(policy, left, count);
    if (cpus === undefined) return undefined;
    own.set(container.name, { cpus });
    if (isSidecar(container)) sidecars = cpusOfBoth(sidecars, cpus);
  }
  let shared = cpusWithout(pool, sidecars);
  for (const container of pod.spec.containers) {
    const count = countOf(pod, container, policy);
    if (count === 0) continue;
    const cpus = chooseCpus(policy, shared, count);
    if (cpus === undefined) return undefined;
    own.set(container.name, { cpus });
    shared = cpusWithout(shared, cpus);
  }
  for (const { name } of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    if (!own.has(name) && shared.length > 0) own.set(name, { cpus: shared });
  }
  return own;
}
