/** Port mappings of a sandbox. Upstream: MakePortMappings in pkg/kubelet/container/helpers.go. */
import type { Pod } from "../api.ts";
import { PortMapping, Protocol } from "../../gen/cri.ts";
import { portContainers } from "../pod/containers.ts";
import type { ContainerPort } from "./labels.ts";

const PROTOCOLS: ReadonlyMap<string, Protocol> = new Map(Object.entries(Protocol));

/** Returns a key; two ports of a container with equal keys are the same mapping. */
function mappingKey({ name, protocol = "TCP", hostIP = "", containerPort, hostPort = 0 }: ContainerPort): string {
  return name || `${protocol}-${hostIP}:${containerPort}:${hostPort}`;
}

function containerMappings(ports: readonly ContainerPort[]): readonly PortMapping[] {
  const distinct = new Map<string, ContainerPort>();
  for (const port of ports) {
    const key = mappingKey(port);
    if (!distinct.has(key)) distinct.set(key, port);
  }
  return [...distinct.values()].map(({ protocol = "TCP", containerPort, hostPort = 0, hostIP = "" }) =>
    PortMapping.fromPartial({
      protocol: PROTOCOLS.get(protocol) ?? Protocol.TCP,
      containerPort,
      hostPort,
      hostIp: hostIP,
    }),
  );
}

/** Returns the ports of containers and then of sidecars. */
export const podPortMappings = ({ spec }: Pod): readonly PortMapping[] =>
  portContainers(spec).flatMap(({ ports = [] }) => containerMappings(ports));
