/**
 * Memory of a pod with pod-level resources as a whole: all of it is on the same NUMA nodes, and its containers have parts of
 * it. Upstream: AllocatePod of pkg/kubelet/cm/memorymanager/policy_static.go, with the gate PodLevelResourceManagers and the
 * topology manager's scope pod.
 */
import type { Container, Pod } from "../api.ts";
import { isSidecar } from "../pod/containers.ts";
import { podQosClass } from "../pod/qos.ts";
import { podLevelRequests } from "../resources/podResources.ts";
import {
  type ContainerHardware,
  emptyPool,
  type HardwareRefusal,
  type MemoryBlock,
  type PodHardware,
  WHOLE_POD,
} from "../topology/hardware.ts";
import { bytesOf, type MemoryBytes, memoryRequests } from "./memoryPolicy.ts";

/** Returns what the pod asks for as a whole; nothing for other pods than Guaranteed ones. */
export const wholePodMemory = (pod: Pod): MemoryBytes | "invalid" =>
  podQosClass(pod) === "Guaranteed" ? bytesOf(podLevelRequests(pod)) : new Map();

/** Requests of a container that has memory for itself; empty: it shares. */
function requestsOf(pod: Pod, container: Container): MemoryBytes {
  const requests = memoryRequests(pod, container, { podLevel: true });
  return requests === "invalid" ? new Map() : requests;
}

/** Returns why the memory of the pod leaves none to containers that share it; undefined if it suffices. */
export function memoryPoolFault(pod: Pod, total: MemoryBytes): HardwareRefusal | undefined {
  const lasting = new Map<string, number>();
  const leftOf = (resource: string): number => (total.get(resource) ?? 0) - (lasting.get(resource) ?? 0);
  const hold = (requests: MemoryBytes): void => {
    for (const [resource, bytes] of requests) lasting.set(resource, (lasting.get(resource) ?? 0) + bytes);
  };
  let isSharing = false;
  for (const container of pod.spec.initContainers ?? []) {
    const requests = requestsOf(pod, container);
    if (isSidecar(container)) {
      isSharing ||= requests.size === 0;
      hold(requests);
      continue;
    }
    for (const resource of total.keys()) {
      const [bytes, left] = [requests.get(resource) ?? 0, leftOf(resource)];
      if (requests.size > 0 && bytes > left) {
        const what = `largest exclusive init container requests ${bytes} of ${resource}`;
        return emptyPool("memory", `${what}, but only ${left} available`);
      }
      if (requests.size === 0 && left <= 0) {
        return emptyPool("memory", `pod has shared init containers but no ${resource} available for them`);
      }
    }
  }
  for (const container of pod.spec.containers) {
    const requests = requestsOf(pod, container);
    isSharing ||= requests.size === 0;
    hold(requests);
  }
  const used = isSharing ? [...total.keys()].find((resource) => leftOf(resource) <= 0) : undefined;
  if (used === undefined) return undefined;
  return emptyPool(
    "memory",
    `sum of exclusive container ${used} requests equals pod budget, leaving no memory for shared containers`,
  );
}

/** Shares the memory of a pod on some NUMA nodes out among its containers. The pod as a whole holds it. */
export function sharedOutMemory(pod: Pod, total: MemoryBytes, nodes: readonly number[]): PodHardware {
  const blocks = (bytes: MemoryBytes, isHeld: boolean): readonly MemoryBlock[] =>
    [...bytes].flatMap(([resource, amount]) =>
      amount <= 0 ? [] : [{ nodes, resource, bytes: amount, heldBytes: isHeld ? amount : 0 }],
    );
  const without = (from: MemoryBytes, requests: MemoryBytes): MemoryBytes =>
    new Map([...from].map(([resource, bytes]) => [resource, bytes - (requests.get(resource) ?? 0)]));
  const own = new Map<string, ContainerHardware>([[WHOLE_POD, { memory: blocks(total, true) }]]);
  const init = pod.spec.initContainers ?? [];
  const give = (container: Container, bytes: MemoryBytes): void => {
    const memory = blocks(bytes, false);
    if (memory.length > 0) own.set(container.name, { memory });
  };
  let left = total;
  for (const container of init) {
    const requests = requestsOf(pod, container);
    if (requests.size > 0) give(container, requests);
    else if (!isSidecar(container)) give(container, left);
    if (isSidecar(container)) left = without(left, requests);
  }
  for (const container of pod.spec.containers) {
    const requests = requestsOf(pod, container);
    give(container, requests);
    left = without(left, requests);
  }
  for (const container of [...init, ...pod.spec.containers]) if (!own.has(container.name)) give(container, left);
  return own;
}
