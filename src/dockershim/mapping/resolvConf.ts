/** The resolver configuration of a sandbox. Pure. */
import type { DNSConfig } from "../../gen/cri.ts";

/** Returns the text of resolv.conf; undefined where the pod says nothing, and Docker's stays. */
export function resolvConf(dns: DNSConfig | undefined): string | undefined {
  if (dns === undefined) return undefined;
  const { servers, searches, options } = dns;
  const lines = [
    ...servers.map((server) => `nameserver ${server}`),
    ...(searches.length === 0 ? [] : [`search ${searches.join(" ")}`]),
    ...(options.length === 0 ? [] : [`options ${options.join(" ")}`]),
  ];
  return lines.length === 0 ? undefined : `${lines.join("\n")}\n`;
}
