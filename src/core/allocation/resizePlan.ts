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
import { findContainer, isSidecar } from "../pod/containers.ts";
import { parseQuantity } from "../quantity.ts";
import { type CgroupLimits, type PodLimitConfig, podCgroupResources } from "../resources/podCgroup.ts";
import type { PodRuntimeStatus } from "../runtime/podRuntimeStatus.ts";
import {
  type ActualSizes,
  atActualSize,
  certainSizes,
  type InstanceSize,
  isResizing,
  type SizedContainer,
  sizedContainers,
  specifiedSize,
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

/** A write; the writes of a list are executed in order. */
export type ResizeStep =
  | { readonly kind: "cgroup"; readonly limits: CgroupLimits }
  | {
      readonly kind: "container";
      readonly name: string;
      readonly containerId: ContainerId;
      readonly resources: LinuxContainerResources;
      /** The container's size after this step. */
      readonly size: InstanceSize;
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
  const restarts = running.filter((each) => needsRestart(input, each)).map(({ spec }) => spec.name);
  const restarting = new Set(restarts);
  const updated = running.filter(({ spec }) => !restarting.has(spec.name));
  const limits = {
    from: podCgroupResources(withAllocation(pod, sizes.cgroup), config),
    to: podCgroupResources(pod, config),
  };
  const actual = atActualSize(pod, runtime, sizes);
  const grown = withMemoryOf(actual, pod);
  const held: PodAt = (each) => withPodLevel(actual, inherited(input, each));
  const between: PodAt = (each) => withPodLevel(grown, withMemory(inherited(input, each), pod.spec.resources));
  const memory = containerSteps(input, updated, [held, between], (from, to) =>
    order(limit(from.memoryLimitInBytes), limit(to.memoryLimitInBytes)),
  );
  const cpu = containerSteps(
    input,
    updated,
    [between, () => pod],
    (from, to) => order(limit(from.cpuQuota), limit(to.cpuQuota)) || order(from.cpuShares, to.cpuShares),
  );
  const { memoryLimitBytes, memoryMinBytes, memoryLowBytes, cpuShares } = limits.to;
  const isLess = (name: Ordinal): boolean | undefined => isDecrease(limits, name);
  const podDecrease =
    memoryLimitBytes !== undefined && isLess("memoryLimitBytes") === true
      ? [{ limitBytes: BigInt(memoryLimitBytes) }]
      : [];
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
 * Returns whether the limit decreases; undefined when it is unchanged. A limit that was removed from the spec is
 * left in place, as upstream.
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

/** Returns the pod with the pod-level resources of one of its containers. */
type PodAt = (container: SizedContainer) => Pod;

/** Returns the updates from one size to the next, decreases first. */
function containerSteps(
  { node }: ResizePlanInput,
  containers: readonly SizedContainer[],
  [fromOf, toOf]: readonly [PodAt, PodAt],
  compare: (from: LinuxContainerResources, to: LinuxContainerResources) => number,
): readonly Ordered[] {
  const steps = containers.flatMap((each): Ordered[] => {
    const { spec, instance } = each;
    const [from, to] = [fromOf(each), toOf(each)];
    const [before, after] = [containerOf(from, spec.name), containerOf(to, spec.name)];
    const resources = containerResources(to, after, node);
    const by = compare(containerResources(from, before, node), resources);
    const size = specifiedSize(to, after);
    const step: ContainerStep = { kind: "container", name: spec.name, containerId: instance.id, resources, size };
    return by === 0 ? [] : [{ step, by }];
  });
  return [...steps.filter(({ by }) => by < 0), ...steps.filter(({ by }) => by > 0)];
}

function containerOf({ spec }: Pod, name: string): Container {
  return findContainer(spec, name) ?? { name };
}

/** Returns the pod-level resources that a container has; those of the spec when they cannot be resized. */
const inherited = ({ pod, config }: ResizePlanInput, { actual }: SizedContainer): InstanceSize["pod"] =>
  config.resizableParts.podLevel ? actual.pod : pod.spec.resources;

/** Returns the same object when the pod has these pod-level resources already, as it has for nearly all containers. */
function withPodLevel(base: Pod, own: InstanceSize["pod"]): Pod {
  const { resources, ...spec } = base.spec;
  if (sameRequirements(resources, own)) return base;
  return { ...base, spec: { ...spec, ...(own === undefined ? {} : { resources: own }) } };
}

/** Returns the pod `base` with the memory resources of `pod`. */
function withMemoryOf(base: Pod, pod: Pod): Pod {
  const [held, wanted] = [allocationOf(base), allocationOf(pod)];
  const containers = Object.keys(wanted.containers).map((name) => [
    name,
    withMemory(held.containers[name], wanted.containers[name]),
  ]);
  const own = withMemory(held.pod, wanted.pod);
  return withAllocation(base, {
    ...(own === undefined ? {} : { pod: own }),
    containers: Object.fromEntries(containers) as PodAllocation["containers"],
  });
}

/** Returns the resources of `own` with the memory of `other`. */
function withMemory(own: Requirements | undefined, other: Requirements | undefined): Requirements | undefined {
  if (own === undefined && other === undefined) return undefined;
  return { limits: memoryFrom(own?.limits, other?.limits), requests: memoryFrom(own?.requests, other?.requests) };
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
function needsRestart(input: ResizePlanInput, container: SizedContainer): boolean {
  const { pod } = input;
  const { spec, actual } = container;
  const isInit = findNamed(pod.spec.initContainers, spec.name) !== undefined;
  if (isInit && !isSidecar(spec)) return false;
  const held: InstanceSize = { own: actual.own, pod: inherited(input, container) };
  const wanted = specifiedSize(pod, spec);
  return (["cpu", "memory"] as const).some(
    (resource) =>
      !sameRequirements(effective(wanted, resource), effective(held, resource)) &&
      (spec.resizePolicy ?? []).some(
        ({ resourceName, restartPolicy }) => resourceName === resource && restartPolicy === "RestartContainer",
      ),
  );
}

/** Returns what a container has of one resource; without a limit of its own it gets the limit of the pod. */
function effective({ own, pod }: InstanceSize, resource: Resource): Requirements {
  const isSet = (amounts: Requirements["limits"]): boolean => !isZero(amounts?.[resource]);
  const part = (amounts: Requirements["limits"]): Record<string, string> => {
    const amount = amounts?.[resource];
    return amount === undefined ? {} : { [resource]: amount };
  };
  return { requests: part(own.requests), limits: part([own.limits, pod?.limits].find(isSet)) };
}

const isZero = (amount: string | undefined): boolean =>
  amount === undefined || (parseQuantity(amount)?.nano ?? 0n) === 0n;

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
