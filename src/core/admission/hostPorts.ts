/** Ports pods take on the node, and whether two want the same. Counterpart: the scheduler's nodeports plugin. */
import type { Pod } from "../api.ts";
import { isSidecar } from "../resources/podResources.ts";

interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

const ANY_ADDRESS = "0.0.0.0";

/** Host ports of everything that keeps running; on the node's network every container port is one. */
function hostPorts(pod: Pod): readonly HostPort[] {
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar);
  const ports = [...pod.spec.containers, ...sidecars].flatMap((container) => container.ports ?? []);
  return ports.flatMap(({ hostPort, containerPort, hostIP, protocol }) => {
    const port = hostPort ?? (pod.spec.hostNetwork ? containerPort : 0);
    return port > 0 ? [{ ip: hostIP || ANY_ADDRESS, protocol: protocol ?? "TCP", port }] : [];
  });
}

function clash(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false;
  return a.ip === b.ip || a.ip === ANY_ADDRESS || b.ip === ANY_ADDRESS;
}

/** True when the pod wants a host port one of the others has. */
export function hostPortsConflict(pod: Pod, others: readonly Pod[]): boolean {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return false;
  return others.flatMap(hostPorts).some((taken) => wanted.some((port) => clash(port, taken)));
}
