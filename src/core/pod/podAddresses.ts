/**
 * Addresses in the pod status: the pod's own, primary family first, and the node's. Upstream: sortPodIPs, getPodIPs of
 * the PLEG, the address part of generateAPIPodStatus.
 */
import type { Pod, PodStatus } from "../api.ts";
import { findIdentified } from "../findNamed.ts";
import type { PodRuntimeStatus, RuntimeContainer } from "../runtime/podRuntimeStatus.ts";
import { isHostNetwork } from "./sandboxChange.ts";

export type PodAddresses = Pick<PodStatus, "hostIP" | "hostIPs" | "podIP" | "podIPs">;

const isV6 = (ip: string): boolean => ip.includes(":");

/** Returns at most one address per family, the node's primary family first; IPv4 if the node has no address. */
export function byNodeFamily(ips: readonly string[], hostIPs: readonly string[]): readonly string[] {
  const primaryIsV6 = hostIPs[0] !== undefined && isV6(hostIPs[0]);
  const primary = ips.find((ip) => isV6(ip) === primaryIsV6);
  const secondary = ips.find((ip) => isV6(ip) !== primaryIsV6);
  return [primary, secondary].filter((ip) => ip !== undefined);
}

/** Returns the addresses of the pod. Keeps the previous ones when its sandbox is gone. */
function podIPsOf(
  pod: Pod,
  runtime: PodRuntimeStatus,
  previous: PodStatus | undefined,
  hostIPs: readonly string[],
): readonly string[] {
  const [newest] = runtime.sandboxes;
  const reported = (previous?.podIPs ?? []).flatMap(({ ip }) => (ip === undefined || ip === "" ? [] : [ip]));
  if (isHostNetwork(pod)) {
    // The primary address never changes; a second family is added when the node gets one.
    const [first = hostIPs[0], second = hostIPs[1]] = reported;
    const ips = [first, second].filter((ip) => ip !== undefined);
    return ips.filter((ip, index) => index === 0 || ips[0] === undefined || isV6(ip) !== isV6(ips[0]));
  }
  if (newest?.ready === true && newest.ips.length > 0) return byNodeFamily(newest.ips, hostIPs);
  return runtime.sandboxes.some(({ ready }) => ready) ? [] : reported;
}

/** Returns the address fields of the pod status, without fields that have no value. */
export function podAddresses(
  pod: Pod,
  runtime: PodRuntimeStatus,
  previous: PodStatus | undefined,
  hostIPs: readonly string[],
): PodAddresses {
  const podIPs = podIPsOf(pod, runtime, previous, hostIPs);
  return {
    ...(hostIPs[0] === undefined ? {} : { hostIP: hostIPs[0], hostIPs: hostIPs.slice(0, 2).map((ip) => ({ ip })) }),
    ...(podIPs[0] === undefined ? {} : { podIP: podIPs[0], podIPs: podIPs.map((ip) => ({ ip })) }),
  };
}

/**
 * Returns the address at which a container is reached: that of its own sandbox, ready or not; undefined if it has none.
 * The pod's last reported address may belong to another pod by now. Upstream: the PodIP of the status.
 */
export function containerAddress(
  pod: Pod,
  runtime: PodRuntimeStatus,
  container: Pick<RuntimeContainer, "sandboxId">,
  previous: PodStatus | undefined,
  hostIPs: readonly string[],
): string | undefined {
  if (isHostNetwork(pod)) return podIPsOf(pod, runtime, previous, hostIPs)[0];
  const sandbox = findIdentified(runtime.sandboxes, container.sandboxId);
  return byNodeFamily(sandbox?.ips ?? [], hostIPs)[0];
}
