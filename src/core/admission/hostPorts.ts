/** Host ports of pods and their conflicts. Upstream: the scheduler's nodeports plugin. */
import type { Pod } from "../api.ts";
import { perObject } from "../perObject.ts";
import { portContainers } from "../pod/containers.ts";

interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

const ANY_ADDRESS = "0.0.0.0";

/** Returns the host ports of containers and sidecars; with host networking every container port is a host port. */
const hostPorts = perObject((pod: Pod): readonly HostPort[] => {
  const ports = portContainers(pod.spec).flatMap((container) => container.ports ?? []);
  return ports.flatMap(({ hostPort, containerPort, hostIP, protocol }) => {
    const port = hostPort ?? (pod.spec.hostNetwork ? containerPort : 0);
    return port > 0 ? [{ ip: hostIP || ANY_ADDRESS, protocol: protocol ?? "TCP", port }] : [];
  });
});

const numberOf = ({ protocol, port }: HostPort): string => `${protocol}/${port}`;

/** Returns true when the pod requests a host port that another pod uses. */
export function hostPortsConflict(pod: Pod, others: readonly Pod[]): boolean {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return false;
  const addresses = new Map<string, Set<string>>();
  for (const port of wanted) {
    const known = addresses.get(numberOf(port));
    if (known === undefined) addresses.set(numberOf(port), new Set([port.ip]));
    else known.add(port.ip);
  }
  const isTaken = (taken: HostPort): boolean => {
    const ips = addresses.get(numberOf(taken));
    return ips !== undefined && (taken.ip === ANY_ADDRESS || ips.has(taken.ip) || ips.has(ANY_ADDRESS));
  };
  return others.some((other) => hostPorts(other).some(isTaken));
}
