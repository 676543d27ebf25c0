/** Whether pods fit on a node together: every resource it has, their number, their host ports. As admission should see it. */
import type { Pod } from "../../core/api.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import {
  parseResourceList,
  type ResourceList,
  resourceMilli,
  resourceValue,
} from "../../core/resources/resourceList.ts";

/** `TCP 80`; no pod of a workload binds to one address alone. */
export type HostPorts = readonly string[];

/** What one pod takes. */
export interface TakenPart {
  readonly size: ResourceList;
  readonly ports: HostPorts;
}

/** The host ports a pod asks for. */
export const hostPortsOf = ({ spec }: Pod): HostPorts =>
  spec.containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort, protocol = "TCP" }) => (hostPort === undefined ? [] : [`${protocol} ${hostPort}`])),
  );

/** Says what is too much for this node; undefined when they fit. */
export function nodeMisfit(config: Pick<KubeletConfig, "allocatable" | "maxPods">) {
  const room = parseResourceList(config.allocatable);
  const units = (list: ResourceList, name: string): bigint =>
    name === "cpu" ? resourceMilli(list, name) : resourceValue(list, name);
  const names = [...room.keys()].filter((name) => name !== "pods");
  return (parts: readonly TakenPart[]): string | undefined => {
    for (const name of names) {
      const sum = parts.reduce((before, { size }) => before + units(size, name), 0n);
      if (sum > units(room, name)) return `running pods request ${sum}${UNITS[name] ?? ` of ${name}`}`;
    }
    const ports = parts.flatMap((part) => part.ports);
    const twice = ports.find((port, index) => ports.indexOf(port) !== index);
    if (twice !== undefined) return `two running pods have the host port ${twice}`;
    return parts.length > config.maxPods ? `${parts.length} pods run` : undefined;
  };
}

const UNITS: Readonly<Record<string, string>> = { cpu: "m of cpu", memory: " bytes of memory" };
