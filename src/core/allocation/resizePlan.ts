/**
 * Plans how an allocated size is actuated: memory, then CPU; the pod's cgroup grows before its containers and shrinks
 * after them, limits grow before requests and shrink after them; containers that shrink precede those that grow.
 * Upstream: computePodResizeAction and doPodResizeAction (kuberuntime_manager.go).
 */
import type { Container, Pod } from "../api.ts";
import { containerResources } from "../container/resources.ts";
import type { NodeContext } from "../container/nodeContext.ts";
import type { LinuxContainerResources } from "../../gen/cri.ts";
import type { ContainerId } from "../ids.ts";
import { isSidecar } from "../pod/restartRules.ts";
import { type CgroupLimits, type PodLimitConfig, podCgroupResources } from "../resources/podCgroup.ts";
import type { PodRuntimeStatus } from "../runtime/podRuntimeStatus.ts";
import {
  type ActualSizes,
  atActualSize,
  certainSizes,
  isResizing,
  type SizedContainer,
  sizedContainers,
} from "./actualSizes.ts";
import {
  allocationOf,
  isResizableContainer,
  type PodAllocation,
  type Requirements,
  type ResizableParts,
  sameRequirements,
  withAllocation,
} from "./podAllocation.ts";
import { findNamed } from "../findNamed.ts";

type Resource = "memory" | "cpu";

/** One write; the writes of a list are executed in order. */
export type ResizeStep =
  | { readonly kind: "cgroup"; readonly limits: CgroupLimits }
  | {
      readonly kind: "container";
      readonly name: string;
      readonly containerId: ContainerId;
      readonly resources: LinuxContainerResources;
      /** The container's resources after this step. */
      readonly requirements: Requirements;
    };

/** A decrease of a memory limit, which is rejected while usage is higher. */
export interface MemoryDecrease {
  /** Absent: the limit of the pod. */
  readonly container?: { readonly name: string; readonly id: ContainerId };
  readonly limitBytes: bigint;
}

/** The steps that actuate the allocated size. */
export interface ResizePlan {
  /** Names of running containers that must be restarted. */
  readonly restarts: readonly string[];
  readonly decreases: readonly MemoryDecrease[];
  readonly steps: readonly ResizeStep[];
}

/** The inputs of a plan; the pod has its allocated size. */
export interface ResizePlanInput {
  readonly pod: Pod;
  readonly runtime: PodRuntimeStatus;
  readonly sizes: ActualSizes;
  readonly node: NodeContext;
  readonly config: PodLimitConfig & { readonly resizableParts: ResizableParts };
}

/** Returns the plan; undefined when the allocated size is actuated. */
export function planResize(input: ResizePlanInput): ResizePlan | undefined {
  const { pod, runtime, config } = input;
  const sizes = certainSizes(input.sizes);
  const { resizableParts } = config;
  const running = sizedContainers(pod, runtime, sizes).filter(({ spec }) =>
    isResizableContainer(pod, spec.name, resizableParts),
  );
  if (!isResizing(pod, running, sizes, resizableParts)) return undefined;
  const restarts = running.filter((each) => needsRestart(pod, each)).map(({ spec }) => spec.name);
  const restarting = new Set(restarts);
  const updated = running.filter(({ spec }) => !restarting.has(spec.name));
  const limits = {
    from: podCgroupResources(withAllocation(pod, sizes.cgroup), config),
    to: podCgroupResources(pod, config),
  };
  const actual = atActualSize(pod, runtime, sizes);
  const grown = withMemoryOf(actual, pod);
  const memory = containerSteps(input, updated, [actual, grown], (from, to) =>
    order(limit(from.memoryLimitInBytes), limit(to.memoryLimitInBytes)),
  );
  const cpu = containerSteps(
    input,
    updated,
    [grown, pod],
    (from, to) => order(limit(from.cpuQuota), limit(to.cpuQuota)) || order(from.cpuShares, to.cpuShares),
  );
  const { memoryLimitBytes, memoryMinBytes, memoryLowBytes, cpuShares } = limits.to;
  const isLess = (name: Ordinal): boolean | undefined => isDecrease(limits, name);
  const podDecrease = isLess("memoryLimitBytes") === true ? [{ limitBytes: BigInt(memoryLimitBytes ?? 0) }] : [];
  return {
    restarts,
    decreases: [...podDecrease, ...memory.filter(({ by }) => by < 0).map(({ step }) => decreaseOf(step))],
    steps: [
      ...around(
        [
          [isLess("memoryLimitBytes"), pick({ memoryLimitBytes })],
          [isLess("memoryMinBytes"), pick({ memoryMinBytes })],
          [isLess("memoryLowBytes"), pick({ memoryLowBytes })],
        ],
        memory,
      ),
      ...around(
        [
          [isLess("cpuQuotaUs"), pick({ cpuQuotaUs: limits.to.cpuQuotaUs, cpuPeriodUs: limits.to.cpuPeriodUs })],
          [isLess("cpuShares"), pick({ cpuShares })],
        ],
        cpu,
      ),
    ],
  };
}

type ContainerStep = ResizeStep & { readonly kind: "container" };
interface Ordered {
  readonly step: ContainerStep;
  /** Negative for a container that shrinks. */
  readonly by: number;
}

/** Limits that can be ordered by size. */
type Ordinal = "memoryLimitBytes" | "memoryMinBytes" | "memoryLowBytes" | "cpuQuotaUs" | "cpuShares";

/** No limit is greater than any limit. */
const UNLIMITED = 2n ** 64n;
const limit = (amount: bigint): bigint => (amount <= 0n ? UNLIMITED : amount);
const order = (from: bigint, to: bigint): number => (from === to ? 0 : to > from ? 1 : -1);

/** Orders writes to the pod's cgroup around those to its containers: increases first, decreases last and reversed. */
function around(
  writes: readonly (readonly [isLess: boolean | undefined, limits: CgroupLimits])[],
  containers: readonly Ordered[],
): readonly ResizeStep[] {
  const cgroup = ([, limits]: readonly [unknown, CgroupLimits]): ResizeStep => ({ kind: "cgroup", limits });
  return [
    ...writes.filter(([isLess]) => isLess === false).map(cgroup),
    ...containers.map(({ step }) => step),
    ...writes
      .filter(([isLess]) => isLess === true)
      .reverse()
      .map(cgroup),
  ];
}

/**
 * Returns whether the limit decreases; undefined when it is unchanged. As upstream, a limit that was removed from the
 * spec is left in place.
 */
function isDecrease(
  { from, to }: { readonly from: CgroupLimits; readonly to: CgroupLimits },
  name: Ordinal,
): boolean | undefined {
  const [held, wanted] = [from[name], to[name]];
  if (wanted === undefined || wanted === held) return undefined;
  return held === undefined || held < 0 || wanted < held;
}

const pick = (limits: { readonly [Name in keyof CgroupLimits]: number | undefined }): CgroupLimits =>
  Object.fromEntries(Object.entries(limits).filter(([, amount]) => amount !== undefined));

const decreaseOf = ({ name, containerId, resources }: ContainerStep): MemoryDecrease => ({
  container: { name, id: containerId },
  limitBytes: resources.memoryLimitInBytes,
});

/** Returns the updates from one size to the next, decreases first. */
function containerSteps(
  { node }: ResizePlanInput,
  containers: readonly SizedContainer[],
  [from, to]: readonly [Pod, Pod],
  compare: (from: LinuxContainerResources, to: LinuxContainerResources) => number,
): readonly Ordered[] {
  const steps = containers.flatMap(({ spec, instance }): Ordered[] => {
    const [before, after] = [containerOf(from, spec.name), containerOf(to, spec.name)];
    const resources = containerResources(to, after, node);
    const by = compare(containerResources(from, before, node), resources);
    const requirements = after.resources ?? {};
    const step: ContainerStep = {
      kind: "container",
      name: spec.name,
      containerId: instance.id,
      resources,
      requirements,
    };
    return by === 0 ? [] : [{ step, by }];
  });
  return [...steps.filter(({ by }) => by < 0), ...steps.filter(({ by }) => by > 0)];
}

function containerOf({ spec }: Pod, name: string): Container {
  return findNamed(spec.initContainers, name) ?? findNamed(spec.containers, name) ?? { name };
}

/** Returns the pod `base` with the memory resources of `pod`. */
function withMemoryOf(base: Pod, pod: Pod): Pod {
  const mixed = (own: Requirements | undefined, other: Requirements | undefined): Requirements => ({
    limits: memoryFrom(own?.limits, other?.limits),
    requests: memoryFrom(own?.requests, other?.requests),
  });
  const [held, wanted] = [allocationOf(base), allocationOf(pod)];
  const containers = Object.keys(wanted.containers).map((name) => [
    name,
    mixed(held.containers[name], wanted.containers[name]),
  ]);
  const own: PodAllocation["pod"] =
    held.pod === undefined && wanted.pod === undefined ? undefined : mixed(held.pod, wanted.pod);
  return withAllocation(base, {
    ...(own === undefined ? {} : { pod: own }),
    containers: Object.fromEntries(containers) as PodAllocation["containers"],
  });
}

function memoryFrom(own: Requirements["limits"], other: Requirements["limits"]): Record<string, string> {
  const memory = other?.["memory"];
  return {
    ...Object.fromEntries(Object.entries(own ?? {}).filter(([name]) => name !== "memory")),
    ...(memory === undefined ? {} : { memory }),
  };
}

/**
 * Returns whether a changed resource has the resize policy RestartContainer. Regular init containers are never
 * restarted.
 */
function needsRestart(pod: Pod, { spec, actual }: SizedContainer): boolean {
  const isInit = findNamed(pod.spec.initContainers, spec.name) !== undefined;
  if (isInit && !isSidecar(spec)) return false;
  return (["cpu", "memory"] as const).some(
    (resource) =>
      !sameRequirements(only(spec.resources, resource), only(actual, resource)) &&
      (spec.resizePolicy ?? []).some(
        ({ resourceName, restartPolicy }) => resourceName === resource && restartPolicy === "RestartContainer",
      ),
  );
}

function only(requirements: Requirements | undefined, resource: Resource): Requirements {
  const part = (amounts: Requirements["limits"]): Record<string, string> => {
    const amount = amounts?.[resource];
    return amount === undefined ? {} : { [resource]: amount };
  };
  return { requests: part(requirements?.requests), limits: part(requirements?.limits) };
}

/** Memory usage of a pod and its containers, in bytes. */
export interface MemoryUsage {
  readonly pod: bigint | undefined;
  readonly containers: ReadonlyMap<string, bigint>;
}

/** Returns why memory limits cannot be decreased now; undefined when usage is below all new limits. */
export function memoryDecreaseProblem(decreases: readonly MemoryDecrease[], usage: MemoryUsage): string | undefined {
  const problems = decreases.flatMap(({ container, limitBytes }) => {
    const used = container === undefined ? usage.pod : usage.containers.get(container.id);
    if (used === undefined || used < limitBytes) return [];
    const what = container === undefined ? "pod" : `container ${JSON.stringify(container.name)}`;
    return [`attempting to set ${what} memory limit (${limitBytes}) below current usage (${used})`];
  });
  if (problems.length === 0) return undefined;
  return `cannot decrease memory limits: ${problems.length === 1 ? problems[0] : `[${problems.join(", ")}]`}`;
}
