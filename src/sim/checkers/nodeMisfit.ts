/**
 * Whether a set of pods fits on a node: allocatable resources, pod count and host ports. Models what admission should
 * decide, without its code.
 */
import type { Pod } from "../../core/api.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import {
  parseResourceList,
  type ResourceList,
  resourceMilli,
  resourceValue,
} from "../../core/resources/resourceList.ts";

/** Entries such as `TCP 80`; pods of a workload never bind to a single address. */
export type HostPorts = readonly string[];

/** Resources and host ports of a pod. */
export interface TakenPart {
  readonly size: ResourceList;
  readonly ports: HostPorts;
}

/** Returns the host ports that a pod requests. */
export const hostPortsOf = ({ spec }: Pod): HostPorts =>
  spec.containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort, protocol = "TCP" }) => (hostPort === undefined ? [] : [`${protocol} ${hostPort}`])),
  );

/** Returns a function that describes what exceeds this node; undefined when the pods fit. */
export function nodeMisfit(config: Pick<KubeletConfig, "allocatable" | "maxPods">) {
  const allocatable = parseResourceList(config.allocatable);
  const units = (list: ResourceList, name: string): bigint =>
    name === "cpu" ? resourceMilli(list, name) : resourceValue(list, name);
  const names = [...allocatable.keys()].filter((name) => name !== "pods");
  return (parts: readonly TakenPart[]): string | undefined => {
    for (const name of names) {
      const sum = parts.reduce((before, { size }) => before + units(size, name), 0n);
      if (sum > units(allocatable, name)) return `running pods request ${sum}${UNITS[name] ?? ` of ${name}`}`;
    }
    const ports = parts.flatMap((part) => part.ports);
    const twice = ports.find((port, index) => ports.indexOf(port) !== index);
    if (twice !== undefined) return `two running pods have the host port ${twice}`;
    return parts.length > config.maxPods ? `${parts.length} pods run` : undefined;
  };
}

const UNITS: Readonly<Record<string, string>> = { cpu: "m of cpu", memory: " bytes of memory" };
