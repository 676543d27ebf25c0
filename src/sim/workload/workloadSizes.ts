/**
 * Sizes of API pods and their containers, and how their owners change their minds about them. Drawn apart from all else of a
 * pod, which stays as it is without them. Plain data.
 */
import type { Container, PodSpec } from "../../core/api.ts";
import { aggregateContainerRequests, isSidecar } from "../../core/resources/podResources.ts";
import {
  parseResourceList,
  type ResourceList,
  resourceMilli,
  resourceValue,
} from "../../core/resources/resourceList.ts";
import type { Prng } from "../prng.ts";

/** What one container asks for. */
export interface SimSize {
  readonly cpuMilli: number;
  readonly memoryMib: number;
}

/** How the containers of a pod say what they ask for. */
export interface SimSizing {
  /** `above`: limits of twice the requests; `equal`: a Guaranteed pod. */
  readonly limits: "none" | "above" | "equal";
  /** Resources a container has to be restarted for. */
  readonly restartsFor: readonly ("cpu" | "memory")[];
  /** The pod states a size as a whole, never less than its containers ask for together. */
  readonly podLevel: boolean;
}

/** `kubectl patch --subresource resize` of one container, or of the pod as a whole. */
export interface SimResizeStep {
  readonly atMs: number;
  readonly kind: "resize";
  /** Which of those that can be resized, modulo their number; the pod comes last. */
  readonly nth: number;
  /** `first`: as it was made. */
  readonly size: SimSize | "first";
}

/** A resize in a few words. */
export const resizeText = ({ nth, size }: SimResizeStep): string =>
  `part ${nth} ${size === "first" ? "as it was made" : `to ${size.cpuMilli}m and ${size.memoryMib}Mi`}`;

/** How one pod is sized. `podPrng` is for the pod as a whole: its containers are as they are without. */
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
  // More than the node has, of one or the other.
  if (draw < 0.22) return { cpuMilli: 100, memoryMib: 40_000 };
  if (draw < 0.3) return { cpuMilli: 9_000, memoryMib: 64 };
  // A few of these fill it.
  if (draw < 0.5) return { cpuMilli: prng.int(10, 40) * 100, memoryMib: prng.int(1, 12) * 1024 };
  return { cpuMilli: prng.int(1, 40) * 10, memoryMib: prng.int(LEAST_MIB, 256) };
}

/** The resizes of one pod between two instants, in order; half of the pods have none. */
export function drawResizes(prng: Prng, fromMs: number, untilMs: number): readonly SimResizeStep[] {
  const steps: SimResizeStep[] = [];
  const count = prng.chance(0.5) ? 0 : prng.int(1, 8);
  for (let atMs = fromMs; steps.length < count; ) {
    // Some come in a hurry: before the last one is in force, or granted.
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

/** A size as the spec of a container has it. */
function requirementsOf(size: SimSize, limits: SimSizing["limits"]): Requirements {
  const requests = amounts(size);
  return limits === "none" ? { requests } : { requests, limits: amounts(size, limits === "equal" ? 1 : 2) };
}

const asSize = (requests: ResourceList): SimSize => ({
  cpuMilli: Number(resourceMilli(requests, "cpu")),
  memoryMib: Number(resourceValue(requests, "memory") / MIB),
});

/** What a container requests, as a size. */
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

/** The spec of a pod with its containers' requests as they are, and limits and policies as it is sized. */
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

/** The size of the pod as a whole: the wanted one, or what its containers ask for together where that is more. */
function podRequirements(spec: PodSpec, { limits }: SimSizing, wanted: SimSize): Requirements {
  const sum = asSize(aggregateContainerRequests({ spec }));
  const larger = (key: keyof SimSize): number => Math.max(sum[key], wanted[key]);
  return requirementsOf({ cpuMilli: larger("cpuMilli"), memoryMib: larger("memoryMib") }, limits);
}

/** The spec with one of its containers, or the pod as a whole, resized; `first` is the spec it was made with. */
export function resizedSpec(spec: PodSpec, first: PodSpec, step: SimResizeStep, sizing: SimSizing): PodSpec {
  const { containers, initContainers } = spec;
  const names = [...(initContainers ?? []).filter(isSidecar), ...containers].map(({ name }) => name);
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
  const made = [...(first.initContainers ?? []), ...first.containers].find((each) => each.name === name);
  const resources = size === "first" ? (made?.resources ?? {}) : requirementsOf(size, limits);
  const resized = (each: Container): Container => (each.name === name ? { ...each, resources } : each);
  return {
    ...spec,
    containers: containers.map(resized),
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(resized) }),
  };
}
