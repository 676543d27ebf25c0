/**
 * Sizes of API pods and their containers, and the resizes their owners request. Drawn separately, so that the rest of
 * a pod does not depend on them. Plain data.
 */
import type { Container, PodSpec } from "../../core/api.ts";
import { findContainer, isSidecar, lastingContainers } from "../../core/pod/containers.ts";
import { aggregateContainerRequests } from "../../core/resources/podResources.ts";
import {
  parseResourceList,
  type ResourceList,
  resourceMilli,
  resourceValue,
} from "../../core/resources/resourceList.ts";
import type { Prng } from "../prng.ts";

/** The resources that a container requests. */
export interface SimSize {
  readonly cpuMilli: number;
  readonly memoryMib: number;
}

/** How the containers of a pod request resources. */
export interface SimSizing {
  /** `above`: limits of twice the requests; `equal`: a Guaranteed pod. */
  readonly limits: "none" | "above" | "equal";
  /** Resources a container has to be restarted for. */
  readonly restartsFor: readonly ("cpu" | "memory")[];
  /** Whether the pod has pod-level resources, never less than the sum of its containers' requests. */
  readonly podLevel: boolean;
}

/** `kubectl patch --subresource resize` of one container, or of the pod as a whole. */
export interface SimResizeStep {
  readonly atMs: number;
  readonly kind: "resize";
  /** Index of the resized container or pod among all that can be resized, modulo their number; the pod is last. */
  readonly nth: number;
  /** The new size; `first`: the size at creation. */
  readonly size: SimSize | "first";
}

/** Describes a resize in a few words. */
export const resizeText = ({ nth, size }: SimResizeStep): string =>
  `part ${nth} ${size === "first" ? "as it was made" : `to ${size.cpuMilli}m and ${size.memoryMib}Mi`}`;

/** Returns the sizing of a pod. `podPrng` draws pod-level resources, so that containers do not depend on them. */
export const drawSizing = (prng: Prng, podPrng: Prng): SimSizing => ({
  podLevel: podPrng.chance(0.3),
  limits: prng.pick(["none", "above", "above", "equal"]),
  restartsFor: prng.pick([[], [], ["memory"], ["cpu", "memory"]]),
});

/** More than any program of a workload uses. */
const LEAST_MIB = 32;

function drawSize(prng: Prng): SimResizeStep["size"] {
  const draw = prng.next();
  if (draw < 0.15) return "first";
  // The node has less memory than the first size, and less CPU than the second.
  if (draw < 0.22) return { cpuMilli: 100, memoryMib: 40_000 };
  if (draw < 0.3) return { cpuMilli: 9_000, memoryMib: 64 };
  // A few pods of this size fill the node.
  if (draw < 0.5) return { cpuMilli: prng.int(10, 40) * 100, memoryMib: prng.int(1, 12) * 1024 };
  return { cpuMilli: prng.int(1, 40) * 10, memoryMib: prng.int(LEAST_MIB, 256) };
}

/** Returns the resizes of a pod between two instants, in order; half of the pods have none. */
export function drawResizes(prng: Prng, fromMs: number, untilMs: number): readonly SimResizeStep[] {
  const steps: SimResizeStep[] = [];
  const count = prng.chance(0.5) ? 0 : prng.int(1, 8);
  for (let atMs = fromMs; steps.length < count; ) {
    // A part of the resizes follows the last one before it is actuated or even allocated.
    atMs += prng.chance(0.4) ? prng.int(0, 2_000) : prng.int(0, untilMs / 4);
    if (atMs >= untilMs) break;
    steps.push({ atMs, kind: "resize", nth: prng.int(0, 5), size: drawSize(prng) });
  }
  return steps;
}

type Requirements = NonNullable<Container["resources"]>;
type Fields = Readonly<Record<string, unknown>>;

const MIB = 1024n ** 2n;

const amounts = ({ cpuMilli, memoryMib }: SimSize, factor = 1) => ({
  cpu: `${cpuMilli * factor}m`,
  memory: `${memoryMib * factor}Mi`,
});

/** Returns a size as the resources of a container spec. */
function requirementsOf(size: SimSize, limits: SimSizing["limits"]): Requirements {
  const requests = amounts(size);
  return limits === "none" ? { requests } : { requests, limits: amounts(size, limits === "equal" ? 1 : 2) };
}

const asSize = (requests: ResourceList): SimSize => ({
  cpuMilli: Number(resourceMilli(requests, "cpu")),
  memoryMib: Number(resourceValue(requests, "memory") / MIB),
});

/** Returns the requests of a container as a size. */
const sizeOf = ({ resources }: Container): SimSize => asSize(parseResourceList(resources?.requests));

const RESOURCES = ["cpu", "memory"] as const;

function sized(
  container: Container,
  { limits, restartsFor }: SimSizing,
  restartPolicy: unknown,
  runsOn: boolean,
): Container {
  const resources = requirementsOf(sizeOf(container), limits);
  if (!runsOn) return { ...container, resources };
  const mayRestart = restartPolicy !== "Never";
  const resizePolicy = RESOURCES.map((resourceName) => ({
    resourceName,
    restartPolicy: mayRestart && restartsFor.includes(resourceName) ? "RestartContainer" : "NotRequired",
  }));
  return { ...container, resources, resizePolicy };
}

/**
 * Returns the spec of a pod with its containers' requests unchanged, and with the limits and resize policies of the
 * sizing.
 */
export function sizedSpec(spec: Fields, sizing: SimSizing | undefined): Fields {
  if (sizing === undefined) return spec;
  const { containers, initContainers, restartPolicy } = spec as unknown as PodSpec;
  const init = initContainers?.map((each) => sized(each, sizing, restartPolicy, isSidecar(each)));
  const made = {
    ...spec,
    containers: containers.map((each) => sized(each, sizing, restartPolicy, true)),
    ...(init === undefined ? {} : { initContainers: init }),
  };
  return sizing.podLevel ? { ...made, resources: podRequirements(made, sizing, NO_SIZE) } : made;
}

const NO_SIZE: SimSize = { cpuMilli: 0, memoryMib: 0 };

/** Returns the pod-level resources: the desired ones, or the sum of its containers' requests where that is more. */
function podRequirements(spec: PodSpec, { limits }: SimSizing, wanted: SimSize): Requirements {
  const sum = asSize(aggregateContainerRequests({ spec }));
  const larger = (key: keyof SimSize): number => Math.max(sum[key], wanted[key]);
  return requirementsOf({ cpuMilli: larger("cpuMilli"), memoryMib: larger("memoryMib") }, limits);
}

/** Returns the spec with one of its containers, or the pod as a whole, resized; `first` is the spec at creation. */
export function resizedSpec(spec: PodSpec, first: PodSpec, step: SimResizeStep, sizing: SimSizing): PodSpec {
  const names = lastingContainers(spec).map(({ name }) => name);
  const name = names[step.nth % (names.length + (sizing.podLevel ? 1 : 0))];
  const resized = name === undefined ? spec : withContainerSize(spec, first, step, sizing, name);
  if (!sizing.podLevel) return resized;
  const before = name === undefined && step.size === "first" ? first : spec;
  const wanted =
    name === undefined && step.size !== "first" ? step.size : asSize(parseResourceList(before.resources?.requests));
  return { ...resized, resources: podRequirements(resized, sizing, wanted) };
}

function withContainerSize(
  spec: PodSpec,
  first: PodSpec,
  { size }: SimResizeStep,
  { limits }: SimSizing,
  name: string,
): PodSpec {
  const { containers, initContainers } = spec;
  const made = findContainer(first, name);
  const resources = size === "first" ? (made?.resources ?? {}) : requirementsOf(size, limits);
  const resized = (each: Container): Container => (each.name === name ? { ...each, resources } : each);
  return {
    ...spec,
    containers: containers.map(resized),
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(resized) }),
  };
}
