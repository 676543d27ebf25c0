/** Validates name resolution: dnsPolicy, dnsConfig, hostAliases, hostnameOverride. */
import type { PodSpec } from "../api.ts";
import { type FieldProblems, forbidden, invalid, invalidEach, required, unsupported } from "./fieldProblem.ts";
import { dnsSubdomain, ipAddress, searchDomain } from "./validateFormats.ts";

const DNS_POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
/** Limits of the libc resolver. */
const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;
const MAX_HOSTNAME_OVERRIDE = 64;

/** Validates the fields of `spec` at `path` that determine resolv.conf, /etc/hosts and the hostname. */
export function* validateNetwork(spec: PodSpec, path: string): FieldProblems {
  const policy = spec.dnsPolicy ?? "";
  if (!DNS_POLICIES.includes(policy)) yield unsupported(`${path}.dnsPolicy`, policy, DNS_POLICIES);
  yield* validateDnsConfig(spec, `${path}.dnsConfig`);
  for (const [index, alias] of (spec.hostAliases ?? []).entries()) {
    const at = `${path}.hostAliases[${index}]`;
    yield* invalidEach(`${at}.ip`, alias.ip ?? "", ipAddress(alias.ip ?? ""));
    for (const [nameIndex, hostname] of (alias.hostnames ?? []).entries()) {
      yield* invalidEach(`${at}.hostnames[${nameIndex}]`, hostname, dnsSubdomain(hostname));
    }
  }
  const override = spec.hostnameOverride;
  if (override === undefined) return;
  yield* invalidEach(`${path}.hostnameOverride`, override, dnsSubdomain(override));
  if (override.length > MAX_HOSTNAME_OVERRIDE) {
    yield invalid(`${path}.hostnameOverride`, override, `must be no more than ${MAX_HOSTNAME_OVERRIDE} bytes`);
  }
  if (spec.setHostnameAsFQDN === true)
    yield forbidden(`${path}.hostnameOverride`, "may not be set beside setHostnameAsFQDN");
  if (spec.hostNetwork === true) yield forbidden(`${path}.hostnameOverride`, "may not be set when hostNetwork is true");
}

function* validateDnsConfig(spec: PodSpec, path: string): FieldProblems {
  const config = spec.dnsConfig;
  if (spec.dnsPolicy === "None") {
    if (config === undefined) yield required(path, "must provide `dnsConfig` when `dnsPolicy` is None");
    else if ((config.nameservers ?? []).length === 0) {
      yield required(`${path}.nameservers`, "must provide at least one DNS nameserver when `dnsPolicy` is None");
    }
  }
  const { nameservers = [], searches = [], options = [] } = config ?? {};
  if (nameservers.length > MAX_NAMESERVERS) {
    yield invalid(`${path}.nameservers`, nameservers, `must not have more than ${MAX_NAMESERVERS} nameservers`);
  }
  for (const [index, server] of nameservers.entries()) {
    yield* invalidEach(`${path}.nameservers[${index}]`, server, ipAddress(server));
  }
  if (searches.length > MAX_SEARCHES) {
    yield invalid(`${path}.searches`, searches, `must not have more than ${MAX_SEARCHES} search paths`);
  }
  if (searches.join(" ").length > MAX_SEARCH_CHARACTERS) {
    const detail = `must not have more than ${MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list`;
    yield invalid(`${path}.searches`, searches, detail);
  }
  for (const [index, search] of searches.entries()) {
    if (search !== ".")
      yield* invalidEach(`${path}.searches[${index}]`, search, searchDomain(search.replace(/\.$/, "")));
  }
  for (const [index, option] of options.entries()) {
    if ((option.name ?? "") === "") yield required(`${path}.options[${index}]`, "must not be empty");
  }
}
