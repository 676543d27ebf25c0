/**
 * Pods that want CPUs and memory for themselves, on a node that gives both: Guaranteed, with whole CPUs. Drawn separately,
 * so that the rest of a pod does not depend on it. Plain data.
 */
import type { Container, PodSpec } from "../../core/api.ts";
import { isSidecar } from "../../core/pod/containers.ts";
import type { Prng } from "../prng.ts";

/** CPUs and memory that a pod has for itself. */
export interface SimPinning {
  /** Whole CPUs of its first container and its first init container; 0: none, but memory. */
  readonly cpus: number;
  /** Memory of its first container. */
  readonly memoryMib: number;
}

/** More than one NUMA node of a simulated machine has. */
const TWO_NODES_MIB = 18_000;

/** Returns the pinning of a pod; undefined for a third of them, which share CPUs. */
export function drawPinning(prng: Prng): SimPinning | undefined {
  if (prng.chance(0.34)) return undefined;
  return {
    cpus: prng.pick([0, 1, 1, 1, 2, 2, 3, 5]),
    memoryMib: prng.pick([64, 64, 512, 4_096, 9_000, TWO_NODES_MIB]),
  };
}

const SMALL = { cpu: "20m", memory: "64Mi" };

type Fields = Readonly<Record<string, unknown>>;

/** Returns the spec with the same requests and limits for each container. */
export function pinnedSpec(spec: Fields, pinning: SimPinning | undefined): Fields {
  if (pinning === undefined) return spec;
  const { containers, initContainers } = spec as unknown as PodSpec;
  const own = { cpu: pinning.cpus === 0 ? "20m" : String(pinning.cpus), memory: `${pinning.memoryMib}Mi` };
  const sized = (container: Container, isFirst: boolean): Container => {
    const amounts = isFirst ? own : SMALL;
    return { ...container, resources: { requests: amounts, limits: amounts } };
  };
  const init = initContainers?.map((each, index) => sized(each, index === 0 && !isSidecar(each)));
  return {
    ...spec,
    containers: containers.map((each, index) => sized(each, index === 0)),
    ...(init === undefined ? {} : { initContainers: init }),
  };
}
