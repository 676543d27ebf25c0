/**
 * Resized pods have settled when their allocated resources are in force and match the spec, unless the spec does not
 * fit the node, or a memory limit cannot shrink because more is in use; and the sum of all allocations never exceeds the
 * node.
 */
import type { Pod } from "../../core/api.ts";
import { sameRequirements } from "../../core/allocation/podAllocation.ts";
import { findContainer, podContainers, podContainerStatuses } from "../../core/pod/containers.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import { milliCpuToQuotaUs, milliCpuToShares } from "../../core/resources/cgroupMath.ts";
import { podCgroupName, podCgroupResources, type CgroupLimits } from "../../core/resources/podCgroup.ts";
import { podLimits, podRequests } from "../../core/resources/podResources.ts";
import {
  parseResourceList,
  type ResourceList,
  resourceMilli,
  resourceValue,
} from "../../core/resources/resourceList.ts";
import type { SimNode } from "../simNode.ts";
import type { SimContainer } from "../runtime/simRecords.ts";

/** The part of a node that `openSizes` reads. */
export interface SizedNode extends Pick<SimNode, "pods"> {
  readonly config: Pick<
    SimNode["config"],
    "allocatable" | "cgroupRoot" | "cgroupsPerQos" | "cpuCfsQuota" | "cpuCfsPeriodUs" | "podPidsLimit" | "memoryQos"
  >;
  readonly runtime: Pick<SimNode["runtime"], "sandboxes" | "containers">;
  readonly cgroups: Pick<SimNode["cgroups"], "all">;
  readonly host: { readonly processes: Pick<SimNode["host"]["processes"], "all"> };
}

type Requirements = NonNullable<Pod["spec"]["containers"][number]["resources"]>;

/** Lists one sentence per size that has not settled. */
export function openSizes(node: SizedNode): readonly string[] {
  const pods = node
    .pods()
    .filter(({ status }) => status?.allocatedResources !== undefined && !isTerminalPhase(status.phase));
  const allocatable = parseResourceList(node.config.allocatable);
  const excess = (["cpu", "memory"] as const).flatMap((name) => {
    const [sum, has] = [
      pods.reduce((total, pod) => total + amountOf(grantedTo(pod), name), 0n),
      amountOf(allocatable, name),
    ];
    return sum > has ? [`pods have ${sum} of ${name} allocated, the node has ${has}`] : [];
  });
  const staying = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const open = staying.flatMap((pod) => {
    if (isRightlyBlocked(pod, node) || hasNothingToResize(pod, node)) return [];
    const others = pods.filter((each) => each !== pod);
    const found = [...unsettled(pod, others, allocatable), ...notInForce(pod, node), ...cgroupProblems(pod, node)];
    return found.map((problem) => `${pod.metadata.namespace}/${pod.metadata.name} ${problem}`);
  });
  return [...excess, ...open];
}

/** Returns millicores of CPU or bytes of memory. */
const amountOf = (list: ResourceList, name: "cpu" | "memory"): bigint =>
  name === "cpu" ? resourceMilli(list, name) : resourceValue(list, name);

const grantedTo = ({ status }: Pod): ResourceList => parseResourceList(status?.allocatedResources);

const conditionOf = ({ status }: Pod, type: string) => status?.conditions?.find((each) => each.type === type);

const fits = (sizes: readonly ResourceList[], allocatable: ResourceList): boolean =>
  (["cpu", "memory"] as const).every(
    (name) => sizes.reduce((sum, size) => sum + amountOf(size, name), 0n) <= amountOf(allocatable, name),
  );

/**
 * Whether a resize waits, with an error in its condition, because a container uses at least its new memory limit. As
 * upstream, that lasts as long as the program does.
 */
function isRightlyBlocked(pod: Pod, node: SizedNode): boolean {
  if (conditionOf(pod, "PodResizeInProgress")?.reason !== "Error") return false;
  const processes = node.host.processes.all();
  const used = runningOf(pod, node).map(({ id, config }) => ({
    name: config.metadata?.name ?? "",
    bytes: BigInt(processes.find(({ cgroup }) => cgroup.endsWith(`/${id}`))?.memoryBytes ?? 0),
  }));
  const isAtLeast = (bytes: bigint, limits: ResourceList): boolean =>
    limits.has("memory") && bytes >= amountOf(limits, "memory");
  return (
    isAtLeast(
      used.reduce((sum, { bytes }) => sum + bytes, 0n),
      podLimits(pod),
    ) ||
    used.some(({ name, bytes }) =>
      isAtLeast(bytes, parseResourceList(findContainer(pod.spec, name)?.resources?.limits)),
    )
  );
}

/** Whether a resize is in progress that ends with the start of the pod, which waits for a volume: see desiredState.ts. */
const hasNothingToResize = (pod: Pod, { runtime }: SizedNode): boolean =>
  conditionOf(pod, "PodResizeInProgress") !== undefined &&
  runtime.sandboxes().every(({ config }) => config.metadata?.uid !== pod.metadata.uid);

/** Describes a desired size that is neither allocated nor rightly deferred or infeasible. */
function unsettled(pod: Pod, others: readonly Pod[], allocatable: ResourceList): readonly string[] {
  const inProgress = conditionOf(pod, "PodResizeInProgress");
  if (inProgress !== undefined) return [`is still being resized: ${inProgress.message ?? ""}`];
  const wanted = podRequests(pod);
  const pending = conditionOf(pod, "PodResizePending");
  if (pending === undefined) {
    const isGranted = (["cpu", "memory"] as const).every(
      (name) => amountOf(wanted, name) === amountOf(grantedTo(pod), name),
    );
    if (!isGranted) return ["has another size in its spec than was allocated, without a resize condition"];
    const reported = parseResourceList(pod.status?.resources?.requests);
    const isReported = (["cpu", "memory"] as const).every(
      (name) => amountOf(wanted, name) === amountOf(reported, name),
    );
    return isReported ? [] : ["has another size in its pod status than was allocated"];
  }
  const isRightly =
    pending.reason === "Infeasible"
      ? !fits([wanted], allocatable)
      : !fits([wanted, ...others.map(grantedTo)], allocatable);
  return isRightly ? [] : [`has a pending resize that fits (${pending.reason}: ${pending.message})`];
}

/** Returns the allocated resources of each container: its spec, or its status while a resize is pending. */
function grantsOf(pod: Pod): ReadonlyMap<string, Requirements> {
  const { spec, status } = pod;
  if (conditionOf(pod, "PodResizePending") === undefined) {
    return new Map(podContainers(spec).map(({ name, resources }) => [name, resources ?? {}]));
  }
  const reported = podContainerStatuses(status);
  return new Map(reported.map(({ name, resources }) => [name, resources ?? {}]));
}

function notInForce(pod: Pod, node: SizedNode): readonly string[] {
  const grants = grantsOf(pod);
  const reported = podContainerStatuses(pod.status);
  return runningOf(pod, node).flatMap(({ config, resources }) => {
    const name = config.metadata?.name ?? "";
    const grant = grants.get(name);
    if (grant === undefined) return [];
    const status = reported.find((each) => each.name === name);
    const wrong = [
      ...(sameRequirements({ requests: status?.allocatedResources ?? {} }, { requests: grant.requests ?? {} })
        ? []
        : ["allocated"]),
      ...(sameRequirements(status?.resources, grant) ? [] : ["status"]),
      ...(hasSize(resources, grant, node.config) ? [] : ["runtime"]),
    ];
    return wrong.length === 0 ? [] : [`does not have its allocated size in force: ${name} (${wrong.join(", ")})`];
  });
}

function runningOf({ metadata }: Pod, { runtime }: SizedNode): readonly SimContainer[] {
  const sandboxes = runtime.sandboxes().filter(({ config }) => config.metadata?.uid === metadata.uid);
  const ids = new Set(sandboxes.map(({ id }) => id));
  return runtime.containers().filter(({ phase, sandboxId }) => phase.kind === "running" && ids.has(sandboxId));
}

function hasSize(
  held: SimContainer["resources"],
  { requests, limits }: Requirements,
  { cpuCfsPeriodUs }: SizedNode["config"],
): boolean {
  const [asked, most] = [parseResourceList(requests), parseResourceList(limits)];
  const cpuLimit = resourceMilli(most, "cpu");
  const shares = milliCpuToShares(asked.has("cpu") ? resourceMilli(asked, "cpu") : cpuLimit);
  return (
    held?.cpuShares === shares &&
    held.cpuQuota === milliCpuToQuotaUs(cpuLimit, BigInt(cpuCfsPeriodUs)) &&
    held.memoryLimitInBytes === resourceValue(most, "memory")
  );
}

function cgroupProblems(pod: Pod, { cgroups, config }: SizedNode): readonly string[] {
  const held = cgroups.all().get(podCgroupName(pod, config));
  if (held === undefined) return [];
  const { cpuQuotaUs, memoryLimitBytes } = podCgroupResources(pod, config);
  const cpuShares = Number(milliCpuToShares(amountOf(grantedTo(pod), "cpu")));
  // While a resize is pending, the status lacks the limits of containers that do not run.
  const limits = conditionOf(pod, "PodResizePending") === undefined ? { cpuQuotaUs, memoryLimitBytes } : {};
  const wanted: { readonly [Name in keyof CgroupLimits]: number | undefined } = { cpuShares, ...limits };
  const names = ["cpuShares", "cpuQuotaUs", "memoryLimitBytes"] as const;
  const wrong = names.filter((name) => wanted[name] !== undefined && held[name] !== wanted[name]);
  return wrong.length === 0 ? [] : [`has another size in its cgroup: ${wrong.join(", ")}`];
}
