/**
 * oom_score_adj of a container: which processes the kernel kills first when the node runs out of memory. A heuristic: a
 * request for a tenth of the node's memory lowers the score by 100. Upstream: pkg/kubelet/qos/policy.go.
 */
import type { Container, Pod } from "../api.ts";
import { isSidecar } from "../pod/containers.ts";
import { isNodeCriticalPod } from "../pod/criticalPod.ts";
import { podQosClass } from "../pod/qos.ts";
import { aggregateContainerRequests, containerRequests, podLevelRequests } from "./podResources.ts";
import { resourceValue } from "./resourceList.ts";
import { perObject } from "../perObject.ts";
import { findNamed } from "../findNamed.ts";

const GUARANTEED = -997;
const BEST_EFFORT = 1000;
const LEAST_BURSTABLE = BEST_EFFORT + GUARANTEED;

const memoryRequest = (container: Container): bigint => resourceValue(containerRequests(container), "memory");

/** Returns the pod-level request beyond the containers' requests, divided evenly among them. */
function unassignedPerContainer(pod: Pod): bigint {
  const total = resourceValue(podLevelRequests(pod), "memory");
  if (total === 0n) return 0n;
  const count = pod.spec.containers.length + (pod.spec.initContainers?.length ?? 0);
  return (total - resourceValue(aggregateContainerRequests(pod), "memory")) / BigInt(count);
}

/** Returns the score from -997 (killed last) to 1000 (killed first); `memoryBytes` is the node's. */
export function oomScoreAdjust(pod: Pod, container: Container, memoryBytes: bigint): number {
  if (isNodeCriticalPod(pod)) return GUARANTEED;
  const qos = podQosClass(pod);
  if (qos === "Guaranteed") return GUARANTEED;
  if (qos === "BestEffort" || memoryBytes <= 0n) return BEST_EFFORT;
  const extra = unassignedPerContainer(pod);
  const scoreFor = (bytes: bigint): number => BEST_EFFORT - Number((1000n * (bytes + extra)) / memoryBytes);
  const own = scoreFor(memoryRequest(container));
  const score = isSidecarOf(pod, container) ? Math.min(own, scoreFor(leastRegularRequest(pod))) : own;
  // Burstable stays between Guaranteed and BestEffort, whatever its request.
  return Math.min(Math.max(score, LEAST_BURSTABLE), BEST_EFFORT - 1);
}

const isSidecarOf = (pod: Pod, container: Container): boolean =>
  isSidecar(container) && findNamed(pod.spec.initContainers, container.name) !== undefined;

/**
 * Returns the smallest request of the regular containers. It limits a sidecar's score, so that a sidecar is never
 * killed before the containers it serves.
 */
const leastRegularRequest = (pod: Pod): bigint => leastRequest(pod.spec.containers);
const leastRequest = perObject((containers: Pod["spec"]["containers"]): bigint => {
  const requests = containers.map(memoryRequest);
  return requests.reduce((least, request) => (request < least ? request : least), requests[0] ?? 0n);
});
