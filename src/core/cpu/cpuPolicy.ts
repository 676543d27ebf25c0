/** The static CPU policy: which containers get CPUs of their own, and from which CPUs. */
import type { Container, Pod } from "../api.ts";
import { hasPodLevelResources } from "../pod/resourceNames.ts";
import { isSidecar } from "../pod/containers.ts";
import { isGuaranteedContainer, podQosClass } from "../pod/qos.ts";
import { containerRequests } from "../resources/podResources.ts";
import { resourceMilli } from "../resources/resourceList.ts";
import { type CpuSet, cpusOfBoth, cpusWithout, NO_CPUS } from "./cpuSet.ts";
import type { CpuTopology } from "./cpuTopology.ts";
import { distributeCpus } from "./distributeCpus.ts";
import { takeCpus } from "./takeCpus.ts";

/** Options of the static policy. Upstream: StaticPolicyOptions. */
export interface CpuPolicyOptions {
  /** full-pcpus-only: no core is shared by two containers. */
  readonly fullCores: boolean;
  /** distribute-cpus-across-numa. */
  readonly acrossNodes: boolean;
  /** align-by-socket. */
  readonly bySocket: boolean;
  /** distribute-cpus-across-cores. */
  readonly acrossCores: boolean;
  /** strict-cpu-reservation: containers without CPUs of their own do not run on reserved CPUs either. */
  readonly strictReservation: boolean;
  /** prefer-align-cpus-by-uncorecache. */
  readonly alignsByCache: boolean;
}

/** The static policy on a machine. */
export interface CpuPolicy {
  readonly topology: CpuTopology;
  readonly options: CpuPolicyOptions;
  /** The gate PodLevelResourceManagers: also containers of pods with pod-level resources get CPUs for themselves. */
  readonly podLevel?: boolean;
  /** CPUs that no container gets for itself. */
  readonly reserved: CpuSet;
  /** The reserved CPUs and the other threads of their cores. */
  readonly reservedCores: CpuSet;
}

/**
 * Returns the policy of a machine; undefined if it has fewer CPUs than are to be reserved. `chosen`: CPUs that the
 * administrator reserves; otherwise the policy takes `reservedCount` close together.
 */
export function cpuPolicy(
  topology: CpuTopology,
  options: CpuPolicyOptions,
  reservedCount: number,
  chosen: CpuSet,
): CpuPolicy | undefined {
  const none: CpuPolicy = { topology, options, reserved: NO_CPUS, reservedCores: NO_CPUS };
  const reserved = chosen.length > 0 ? chosen : chooseCpus(none, topology.cpus, reservedCount);
  if (reserved === undefined) return undefined;
  const cores = new Set(reserved.map((cpu) => topology.places.get(cpu)?.core));
  const reservedCores = topology.cpus.filter((cpu) => cores.has(topology.places.get(cpu)?.core));
  return { topology, options, reserved, reservedCores };
}

/** Chooses CPUs by the options of the policy; undefined if fewer are available. */
export function chooseCpus({ topology, options }: CpuPolicy, available: CpuSet, count: number): CpuSet | undefined {
  if (!options.acrossNodes) return takeCpus(topology, available, count, options);
  const groupSize = options.fullCores ? topology.cpusPerCore : 1;
  return distributeCpus(topology, available, count, groupSize, options);
}

/** Returns the CPUs of containers without CPUs of their own. `exclusive`: those of all others. */
export const sharedCpus = ({ topology, options, reserved }: CpuPolicy, exclusive: CpuSet): CpuSet =>
  cpusWithout(topology.cpus, options.strictReservation ? cpusOfBoth(exclusive, reserved) : exclusive);

/** Returns the CPUs that can still be given out. */
export const freeCpus = ({ topology, reserved }: CpuPolicy, exclusive: CpuSet): CpuSet =>
  cpusWithout(cpusWithout(topology.cpus, reserved), exclusive);

/**
 * Returns how many CPUs a container gets for itself: its request, if it is whole and the pod is Guaranteed; else 0. The
 * containers of a pod with pod-level resources share CPUs, unless the gate for them is on and the requests of the container
 * equal its limits.
 */
export function exclusiveCpuCount(pod: Pod, container: Container, { podLevel }: Pick<CpuPolicy, "podLevel">): number {
  if (podQosClass(pod) !== "Guaranteed") return 0;
  if (hasPodLevelResources(pod) && (podLevel !== true || !isGuaranteedContainer(container))) return 0;
  const milli = resourceMilli(containerRequests(container), "cpu");
  return milli % 1000n === 0n ? Number(milli / 1000n) : 0;
}

/** Returns how many CPUs the containers of a pod have for themselves at the same time, at most. */
export function podExclusiveCpuCount(pod: Pod, policy: Pick<CpuPolicy, "podLevel">): number {
  let sidecars = 0;
  let most = 0;
  for (const container of pod.spec.initContainers ?? []) {
    const count = exclusiveCpuCount(pod, container, policy);
    if (isSidecar(container)) sidecars += count;
    else most = Math.max(most, sidecars + count);
  }
  const apps = pod.spec.containers.reduce((sum, container) => sum + exclusiveCpuCount(pod, container, policy), 0);
  return Math.max(most, sidecars + apps);
}
