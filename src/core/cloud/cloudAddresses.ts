/**
 * Addresses of a Node from those of its cloud. Upstream: GetNodeAddressesFromNodeIPLegacy of k8s.io/cloud-provider and the
 * cloud branch of NodeAddress in pkg/kubelet/nodestatus/setters.go.
 */
import { isIPAddress } from "../config/nodeNames.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import { addressKind, canonicalIp } from "../node/ipAddress.ts";
import { err, ok, type Result } from "../result.ts";
import type { CloudAddress } from "./cloudInstance.ts";

const isV6 = (ip: string): boolean => ip.includes(":");

/**
 * Returns the addresses with those of `--node-ip` first in their type, or, for `0.0.0.0` and `::`, with that family first.
 * Errors: NotFound, when the cloud does not know an address of `--node-ip`.
 */
export function preferNodeIps(
  all: readonly CloudAddress[],
  nodeIps: readonly string[],
): Result<readonly CloudAddress[]> {
  const [first] = nodeIps;
  if (first === undefined) return ok(all);
  if (addressKind(first) === "unspecified") {
    const isOther = ({ address }: CloudAddress): boolean => isIPAddress(address) && isV6(address) !== isV6(first);
    return ok([...all.filter((each) => !isOther(each)), ...all.filter(isOther)]);
  }
  let sorted = all;
  // The last one is moved first, so that the first one precedes it.
  for (const ip of nodeIps.map(canonicalIp).toReversed()) {
    const matches = sorted.filter(({ address }) => isIPAddress(address) && canonicalIp(address) === ip);
    if (matches.length === 0) return err(unknownIp(ip));
    const types = [...new Set(sorted.map(({ type }) => type))];
    sorted = types.flatMap((type) => [
      ...matches.filter((each) => each.type === type),
      ...sorted.filter((each) => each.type === type && !matches.includes(each)),
    ]);
  }
  return ok(sorted);
}

const unknownIp = (ip: string): KubeletError =>
  kubeletError("NotFound", `failed to get node address from cloud provider that matches ip: ${ip}`);

/**
 * Returns the addresses with the node's own host name where the cloud allows it: when the cloud confirms that name, or when
 * the administrator gave it.
 */
export function withHostname(
  all: readonly CloudAddress[],
  hostname: string,
  isOverridden: boolean,
): readonly CloudAddress[] {
  const own = { type: "Hostname", address: hostname };
  const isNamed = all.some(({ type }) => type === "Hostname");
  if (isNamed) return isOverridden ? all.map((each) => (each.type === "Hostname" ? own : each)) : all;
  return isOverridden || all.some(({ address }) => address === hostname) ? [...all, own] : all;
}
