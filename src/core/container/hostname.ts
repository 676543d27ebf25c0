/**
 * Hostname and domain of a pod. Bounds: 63 characters (longer ones are cut), 64 for a fully qualified name (longer
 * ones are refused, as the kernel would). Counterpart: GeneratePodHostNameAndDomain.
 */
import type { Pod } from "../api.ts";
import { kubeletError } from "../errors.ts";
import { type Result, err, ok } from "../result.ts";

const MAX_HOSTNAME_LENGTH = 63;
const MAX_FQDN_LENGTH = 64;
const MAX_SUBDOMAIN_LENGTH = 253;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export interface PodHostname {
  readonly hostname: string;
  /** Domain after the hostname; empty when the pod has no subdomain. */
  readonly domain: string;
}

const refuse = (pod: Pod, message: string): Result<never> =>
  err(kubeletError("InvalidArgument", `pod ${pod.metadata.namespace}/${pod.metadata.name}: ${message}`));

const isLabel = (text: string): boolean => text.length <= MAX_HOSTNAME_LENGTH && LABEL.test(text);

function cut(pod: Pod, hostname: string): Result<string> {
  if (hostname.length <= MAX_HOSTNAME_LENGTH) return ok(hostname);
  const short = hostname.slice(0, MAX_HOSTNAME_LENGTH).replace(/[-.]+$/, "");
  return short === "" ? refuse(pod, `"${hostname}" gives no hostname`) : ok(short);
}

/** Hostname and domain as `/etc/hosts` shows them. */
export function podHostname(pod: Pod, clusterDomain: string): Result<PodHostname> {
  const { hostnameOverride, hostname, subdomain } = pod.spec;
  if (hostnameOverride !== undefined) {
    if (hostnameOverride.length > MAX_SUBDOMAIN_LENGTH || !SUBDOMAIN.test(hostnameOverride)) {
      return refuse(pod, `spec.hostnameOverride "${hostnameOverride}" is not a valid DNS subdomain`);
    }
    const short = cut(pod, hostnameOverride);
    return short.ok ? ok({ hostname: short.value, domain: "" }) : short;
  }
  if (hostname && !isLabel(hostname)) return refuse(pod, `spec.hostname "${hostname}" is not a valid DNS label`);
  if (subdomain && !isLabel(subdomain)) return refuse(pod, `spec.subdomain "${subdomain}" is not a valid DNS label`);
  const short = cut(pod, hostname || pod.metadata.name);
  if (!short.ok) return short;
  const domain = subdomain ? `${subdomain}.${pod.metadata.namespace}.svc.${clusterDomain}` : "";
  return ok({ hostname: short.value, domain });
}

/** The name the kernel gets (`uname -n`): the hostname, or all of it when the pod asks for its FQDN. */
export function kernelHostname(pod: Pod, { hostname, domain }: PodHostname): Result<string> {
  if (!pod.spec.setHostnameAsFQDN || domain === "") return ok(hostname);
  const fqdn = `${hostname}.${domain}`;
  if (fqdn.length <= MAX_FQDN_LENGTH) return ok(fqdn);
  return refuse(
    pod,
    `Failed to construct FQDN from pod hostname and cluster domain, FQDN ${fqdn} is too long ` +
      `(${MAX_FQDN_LENGTH} characters is the max, ${fqdn.length} characters requested)`,
  );
}
