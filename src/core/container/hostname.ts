/**
 * Hostname and domain of a pod. Bounds: 63 characters for a hostname (longer ones are cut), 64 for a fully qualified
 * name (longer ones are rejected, as by the kernel). Upstream: GeneratePodHostNameAndDomain.
 */
import type { Pod } from "../api.ts";
import { kubeletError } from "../errors.ts";
import { dnsLabel, dnsSubdomain } from "../pod/validateFormats.ts";
import { type Result, err, ok } from "../result.ts";
import { trimmedEnd } from "../trimmedEnd.ts";

const MAX_HOSTNAME_LENGTH = 63;
const MAX_FQDN_LENGTH = 64;

/** Hostname and domain of a pod. */
export interface PodHostname {
  readonly hostname: string;
  /** Domain after the hostname; empty when the pod has no subdomain. */
  readonly domain: string;
}

const refuse = (message: string): Result<never> => err(kubeletError("InvalidArgument", message));

function refuseFormat(field: string, value: string, format: string, complaints: readonly string[]): Result<never> {
  return refuse(`pod ${field} "${value}" is not a valid DNS ${format}: ${complaints.join(";")}`);
}

function cut({ metadata }: Pod, hostname: string): Result<string> {
  if (hostname.length <= MAX_HOSTNAME_LENGTH) return ok(hostname);
  const short = trimmedEnd(hostname.slice(0, MAX_HOSTNAME_LENGTH), "-.");
  return short === "" ? refuse(`hostname for pod "${metadata.name}" was invalid: "${hostname}"`) : ok(short);
}

/** Returns hostname and domain for `/etc/hosts`, with upstream's errors. */
export function podHostname(pod: Pod, clusterDomain: string): Result<PodHostname> {
  const { hostnameOverride, hostname, subdomain } = pod.spec;
  if (hostnameOverride !== undefined) {
    const faults = dnsSubdomain(hostnameOverride);
    if (faults.length > 0) return refuseFormat("HostnameOverride", hostnameOverride, "subdomain", faults);
    const short = cut(pod, hostnameOverride);
    return short.ok ? ok({ hostname: short.value, domain: "" }) : short;
  }
  const ofHostname = hostname ? dnsLabel(hostname) : [];
  if (ofHostname.length > 0) return refuseFormat("Hostname", hostname ?? "", "label", ofHostname);
  const short = cut(pod, hostname || pod.metadata.name);
  if (!short.ok) return short;
  const ofSubdomain = subdomain ? dnsLabel(subdomain) : [];
  if (ofSubdomain.length > 0) return refuseFormat("Subdomain", subdomain ?? "", "label", ofSubdomain);
  const domain = subdomain ? `${subdomain}.${pod.metadata.namespace}.svc.${clusterDomain}` : "";
  return ok({ hostname: short.value, domain });
}

/** Returns the kernel hostname (`uname -n`): the hostname, or the FQDN when the pod requests it. */
export function kernelHostname(pod: Pod, { hostname, domain }: PodHostname): Result<string> {
  if (!pod.spec.setHostnameAsFQDN || domain === "") return ok(hostname);
  const fqdn = `${hostname}.${domain}`;
  if (fqdn.length <= MAX_FQDN_LENGTH) return ok(fqdn);
  return refuse(
    `failed to construct FQDN from pod hostname and cluster domain, FQDN ${fqdn} is too long ` +
      `(${MAX_FQDN_LENGTH} characters is the max, ${fqdn.length} characters requested)`,
  );
}
