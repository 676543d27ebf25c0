/**
 * The required fields of a serving certificate for a node with these addresses. Upstream: addressesToHostnamesAndIPs
 * and newGetTemplateFn in pkg/kubelet/certificate/kubelet.go.
 */
import type { V1NodeAddress } from "@kubernetes/client-node";
import type { Wire } from "../api.ts";
import { canonicalIp } from "../node/ipAddress.ts";
import { type CertificateTemplate, nodeTemplate } from "./certificateTemplate.ts";

/** An address of a node, as in its status. */
export type NodeAddress = Wire<V1NodeAddress>;

const IP_TYPES: ReadonlySet<string> = new Set(["InternalIP", "ExternalIP"]);
const DNS_TYPES: ReadonlySet<string> = new Set(["InternalDNS", "ExternalDNS"]);
const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;
const IPV6_CHARS = /^[0-9a-fA-F:.]*$/;

const isAddress = (text: string): boolean => IPV4.test(text) || (text.includes(":") && IPV6_CHARS.test(text));

const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)].sort();

/**
 * Returns the template; undefined while no certificate can be requested, since signers deny one without IP addresses.
 * With `dnsOnly` (gate AllowDNSOnlyNodeCSR), DNS names suffice.
 */
export function servingTemplate(
  nodeName: string,
  addresses: readonly NodeAddress[],
  dnsOnly: boolean,
): CertificateTemplate | undefined {
  const isIp = ({ type, address }: NodeAddress) => IP_TYPES.has(type) || (type === "Hostname" && isAddress(address));
  const isName = ({ type, address }: NodeAddress) =>
    DNS_TYPES.has(type) || (type === "Hostname" && !isAddress(address));
  const given = addresses.filter(({ address }) => address !== "");
  const ipAddresses = distinct(given.filter(isIp).map(({ address }) => canonicalIp(address)));
  const dnsNames = distinct(given.filter(isName).map(({ address }) => address));
  if (ipAddresses.length === 0 && !(dnsOnly && dnsNames.length > 0)) return undefined;
  return { ...nodeTemplate(nodeName), dnsNames, ipAddresses };
}
