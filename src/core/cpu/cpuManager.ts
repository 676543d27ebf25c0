/**
 * Gives CPUs to containers by the static policy. Holds no state: what is given out is in the records of the pods.
 * Upstream: pkg/kubelet/cm/cpumanager/policy_static.go.
 */
import type { Container, Pod } from "../api.ts";
import { isSidecar } from "../pod/containers.ts";
import { hasPodLevelResources } from "../pod/resourceNames.ts";
import type { ResourceManager, WholePods } from "../topology/assignHardware.ts";
import {
  type HardwareRefusal,
  type Holdings,
  type Remark,
  unexpectedRefusal,
  WHOLE_POD,
} from "../topology/hardware.ts";
import type { NumaMask } from "../topology/numaMask.ts";
import { ANYWHERE, NOWHERE, ofResource, type ResourceHints } from "../topology/topologyHint.ts";
import { alignedCpus, cpuHints } from "./cpuHints.ts";
import { chooseCpus, type CpuPolicy, exclusiveCpuCount, freeCpus, podExclusiveCpuCount } from "./cpuPolicy.ts";
import { type CpuSet, commonCpus, cpuSet, cpuSetText, cpusOfBoth, cpusWithout, NO_CPUS } from "./cpuSet.ts";
import { cpusOfWholeCores, placesOf } from "./cpuTopology.ts";
import { cpuPoolFault, sharedOutCpus, wholePodCpuCount } from "./podCpus.ts";

/** Creates the manager of a node's CPUs. `nodeIds`: ids of all NUMA nodes of the machine, ascending. */
export function cpuManager(policy: CpuPolicy, nodeIds: readonly number[]): ResourceManager {
  const hintsFor = (count: number, holdings: Holdings, reusable: CpuSet): ResourceHints =>
    count === 0 ? ANYWHERE : ofResource("cpu", cpuHints(policy, nodeIds, freeOf(policy, holdings), reusable, count));
  return {
    kind: "cpus",
    hints: (pod, container, holdings) => {
      const near = cpusOfBoth(reusableCpus(pod, holdings), formerCpus(policy, container, holdings));
      return [hintsFor(exclusiveCpuCount(pod, container, policy), holdings, near)];
    },
    podHints: (pod, holdings) => {
      if (policy.podLevel !== true || !hasPodLevelResources(pod)) {
        return [hintsFor(podExclusiveCpuCount(pod, policy), holdings, NO_CPUS)];
      }
      const count = wholePodCpuCount(pod);
      const isEmpty = count > 0 && cpuPoolFault(pod, policy) !== undefined;
      return [isEmpty ? ofResource("cpu", NOWHERE) : hintsFor(count, holdings, NO_CPUS)];
    },
    ...(policy.podLevel === true && { wholePods: wholePods(policy, nodeIds) }),
    assign(pod, container, { mask }, holdings) {
      const count = exclusiveCpuCount(pod, container, policy);
      if (count === 0) return {};
      const refusal = misaligned(policy, count, holdings);
      if (refusal !== undefined) return refusal;
      const available = cpusOfBoth(freeOf(policy, holdings), reusableCpus(pod, holdings));
      const former = formerCpus(policy, container, holdings);
      const cpus = takeWhole(policy, available, (from) => takeBeside(policy, nodeIds, from, count, mask, former));
      return cpus === undefined ? notEnough(policy, count, available, holdings) : { cpus };
    },
    keep(pod, container, { cpus = NO_CPUS }, holdings) {
      const available = cpusOfBoth(freeOf(policy, holdings), reusableCpus(pod, holdings));
      const isSame =
        cpus.length === exclusiveCpuCount(pod, container, policy) && cpusWithout(cpus, available).length === 0;
      if (!isSame) return undefined;
      return cpus.length === 0 ? {} : { cpus };
    },
  };
}

/** Gives CPUs to pods with pod-level resources as a whole. */
const wholePods = (policy: CpuPolicy, nodeIds: readonly number[]): WholePods => ({
  assign(pod, { mask }, holdings) {
    const count = wholePodCpuCount(pod);
    if (count === 0) return new Map();
    const refusal = cpuPoolFault(pod, policy) ?? misaligned(policy, count, holdings);
    if (refusal !== undefined) return refusal;
    const available = freeOf(policy, holdings);
    const pool = takeWhole(policy, available, (from) => takeNear(policy, nodeIds, from, count, mask));
    return (pool && sharedOutCpus(pod, pool, policy)) ?? notEnough(policy, count, available, holdings);
  },
  keep(pod, kept, holdings) {
    const pool = kept.get(WHOLE_POD)?.cpus ?? NO_CPUS;
    const isFree = cpusWithout(pool, freeOf(policy, holdings)).length === 0;
    if (pool.length !== wholePodCpuCount(pod) || !isFree || cpuPoolFault(pod, policy) !== undefined) return undefined;
    return pool.length === 0 ? new Map() : sharedOutCpus(pod, pool, policy);
  },
});

/** Returns the CPUs that some pods have for themselves. */
export const exclusiveCpus = ({ others, own }: Holdings): CpuSet =>
  cpuSet([...others, own].flatMap((pod) => [...pod.values()].flatMap(({ cpus = NO_CPUS }) => cpus)));

const freeOf = (policy: CpuPolicy, holdings: Holdings): CpuSet => freeCpus(policy, exclusiveCpus(holdings));

/**
 * Takes CPUs, and with the option full-pcpus-only only whole cores. Differs from upstream: if reserved or offline CPUs make
 * its choice end in the middle of a core, upstream shares that core.
 */
function takeWhole(
  policy: CpuPolicy,
  available: CpuSet,
  take: (from: CpuSet) => CpuSet | undefined,
): CpuSet | undefined {
  const cpus = take(available);
  const isWhole = cpus === undefined || cpusOfWholeCores(policy.topology, cpus).length === cpus.length;
  return isWhole || !policy.options.fullCores ? cpus : take(cpusOfWholeCores(policy.topology, available));
}

/** Returns the CPUs that a container of another size had, which it keeps when it grows; none if they are not all free. */
function formerCpus(policy: CpuPolicy, { name }: Container, holdings: Holdings): CpuSet {
  const kept = holdings.kept?.get(name)?.cpus ?? NO_CPUS;
  return cpusWithout(kept, freeOf(policy, holdings)).length === 0 ? kept : NO_CPUS;
}

/** Takes the CPUs that the container had first, then others. */
function takeBeside(
  policy: CpuPolicy,
  nodeIds: readonly number[],
  available: CpuSet,
  count: number,
  mask: NumaMask | undefined,
  former: CpuSet,
): CpuSet | undefined {
  const kept = commonCpus(former, available);
  if (kept.length >= count) return chooseCpus(policy, kept, count);
  const more = takeNear(policy, nodeIds, cpusWithout(available, kept), count - kept.length, mask);
  return more && cpusOfBoth(kept, more);
}

/** Takes CPUs on the given NUMA nodes first, then any. */
function takeNear(
  policy: CpuPolicy,
  nodeIds: readonly number[],
  available: CpuSet,
  count: number,
  mask: NumaMask | undefined,
): CpuSet | undefined {
  const near = mask === undefined ? NO_CPUS : alignedCpus(policy, nodeIds, mask, available);
  const first = chooseCpus(policy, near, Math.min(count, near.length));
  const rest = first && chooseCpus(policy, cpusWithout(available, first), count - first.length);
  return first && rest && cpusOfBoth(first, rest);
}

/**
 * Returns the CPUs that init containers of the pod had, and that no container has which runs as long as the pod: init
 * containers end before the others start.
 */
function reusableCpus({ spec }: Pod, { own }: Holdings): CpuSet {
  const cpusOf = (containers: readonly Container[]): CpuSet =>
    cpuSet(containers.flatMap(({ name }) => own.get(name)?.cpus ?? NO_CPUS));
  const init = spec.initContainers ?? [];
  const lasting = [...init.filter(isSidecar), ...spec.containers];
  return cpusWithout(cpusOf(init.filter((container) => !isSidecar(container))), cpusOf(lasting));
}

/** Returns why the option full-pcpus-only forbids a request. */
function misaligned(policy: CpuPolicy, count: number, holdings: Holdings): HardwareRefusal | undefined {
  if (!policy.options.fullCores) return undefined;
  const { topology } = policy;
  // Differs from upstream, whose average is 1 as soon as one thread is offline: requests would share cores then.
  const cpusPerCore = topology.mostCpusPerCore;
  if (count % cpusPerCore !== 0) {
    const message = `SMT Alignment Error: requested ${count} cpus not multiple cpus per core = ${cpusPerCore}`;
    return { reason: "SMTAlignmentError", message, by: "cpus", remarks: cpuRemarks(policy, holdings) };
  }
  const whole = cpusOfWholeCores(topology, topology.cpus);
  const free = cpusWithout(cpusWithout(whole, exclusiveCpus(holdings)), policy.reservedCores).length;
  if (count <= free) return undefined;
  const message =
    `SMT Alignment Error: not enough free physical CPUs: available physical CPUs = ${free}, ` +
    `requested CPUs = ${count}, CPUs per core = ${cpusPerCore}`;
  return { reason: "SMTAlignmentError", message, by: "cpus", remarks: cpuRemarks(policy, holdings) };
}

/** Returns the CPUs behind a refusal, also how many cores are free as a whole. */
function cpuRemarks(policy: CpuPolicy, holdings: Holdings): readonly Remark[] {
  const { topology, reserved } = policy;
  const [free, exclusive] = [freeOf(policy, holdings), exclusiveCpus(holdings)];
  const sizes = new Map<number, number>();
  for (const { core } of placesOf(topology, free)) sizes.set(core, (sizes.get(core) ?? 0) + 1);
  const whole = [...sizes.values()].filter((threads) => threads >= topology.mostCpusPerCore).length;
  const text = (cpus: CpuSet): string => (cpus.length === 0 ? "none" : `${cpus.length} (${shortText(cpus)})`);
  const cores = topology.mostCpusPerCore > 1 ? `, free cores ${whole}` : "";
  const message = `free CPUs ${text(free)}${cores}, reserved ${text(reserved)}, of containers ${text(exclusive)}`;
  return [{ what: "FreeCpus", message }];
}

/** Longer lists of CPUs are cut; `rxlet resources` shows all. */
const MAX_LIST = 100;
const shortText = (cpus: CpuSet): string => {
  const text = cpuSetText(cpus);
  return text.length <= MAX_LIST ? text : `${text.slice(0, MAX_LIST - 3)}...`;
};

const notEnough = (policy: CpuPolicy, count: number, available: CpuSet, holdings: Holdings): HardwareRefusal => ({
  ...unexpectedRefusal(
    `not enough cpus available to satisfy request: requested=${count}, available=${available.length}`,
  ),
  by: "cpus",
  remarks: cpuRemarks(policy, holdings),
});
