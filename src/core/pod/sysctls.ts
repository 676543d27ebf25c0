/**
 * Which kernel settings a pod may ask for. Names are compared in their dotted form. Counterparts: pkg/kubelet/sysctl,
 * k8s.io/component-helpers/node/util/sysctl.
 */
import type { Pod } from "../api.ts";
import { isVersionAtLeast } from "../resources/kernelVersion.ts";

/** A namespace of the kernel that keeps settings apart. */
type SysctlNamespace = "ipc" | "net";

/** Settings pods may ask for, each with the namespace it lives in. */
export interface SysctlAllowlist {
  readonly names: ReadonlyMap<string, SysctlNamespace>;
  readonly prefixes: ReadonlyMap<string, SysctlNamespace>;
}

/** Namespaced and of no effect on other pods; each with the kernel that first kept it apart, where that matters. */
const SAFE_SYSCTLS: readonly { readonly name: string; readonly since?: string }[] = [
  { name: "kernel.shm_rmid_forced" },
  { name: "net.ipv4.ip_local_port_range" },
  { name: "net.ipv4.tcp_syncookies" },
  { name: "net.ipv4.ping_group_range" },
  { name: "net.ipv4.ip_unprivileged_port_start" },
  { name: "net.ipv4.ip_local_reserved_ports", since: "3.16" },
  { name: "net.ipv4.tcp_keepalive_time", since: "4.5" },
  { name: "net.ipv4.tcp_fin_timeout", since: "4.6" },
  { name: "net.ipv4.tcp_keepalive_intvl", since: "4.5" },
  { name: "net.ipv4.tcp_keepalive_probes", since: "4.5" },
  { name: "net.ipv4.tcp_rmem", since: "4.15" },
  { name: "net.ipv4.tcp_wmem", since: "4.15" },
];

const NAMESPACE_PREFIXES: readonly (readonly [string, SysctlNamespace])[] = [
  ["kernel.shm", "ipc"],
  ["kernel.msg", "ipc"],
  ["fs.mqueue.", "ipc"],
  ["net.", "net"],
];

const MAX_LENGTH = 253;
const PATTERN = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]$/;

/** The dotted form of a name: one whose first separator is a slash has dots and slashes the other way round. */
export function dottedSysctl(name: string): string {
  const separator = /[./]/.exec(name)?.[0];
  if (separator !== "/") return name;
  return name.replace(/[./]/g, (each) => (each === "/" ? "." : "/"));
}

function namespaceOf(dotted: string): SysctlNamespace | undefined {
  if (dotted === "kernel.sem") return "ipc";
  return NAMESPACE_PREFIXES.find(([prefix]) => dotted.startsWith(prefix))?.[1];
}

const patternStem = (dotted: string): string => (dotted.endsWith("*") ? dotted.slice(0, -1) : dotted);

/** Why this is no name, or pattern with a trailing `*`, of settings that can be allowed; undefined when it is. */
export function sysctlPatternFault(pattern: string): string | undefined {
  if (pattern.length > MAX_LENGTH || !PATTERN.test(pattern)) {
    return `must be a sysctl name of at most ${MAX_LENGTH} characters, a trailing * matches the rest, got ${JSON.stringify(pattern)}`;
  }
  if (namespaceOf(patternStem(dottedSysctl(pattern))) !== undefined) return undefined;
  return `must be a sysctl known to be namespaced, got ${JSON.stringify(pattern)}`;
}

/** Settings every pod may ask for on this kernel; none on systems other than Linux. */
export function safeSysctls(operatingSystem: string, kernelRelease: string): readonly string[] {
  if (operatingSystem !== "linux") return [];
  return SAFE_SYSCTLS.filter(({ since }) => since === undefined || isVersionAtLeast(kernelRelease, since) === true).map(
    ({ name }) => name,
  );
}

/** The list made of names and patterns; those `sysctlPatternFault` finds fault with allow nothing. */
export function sysctlAllowlist(patterns: readonly string[]): SysctlAllowlist {
  const names = new Map<string, SysctlNamespace>();
  const prefixes = new Map<string, SysctlNamespace>();
  for (const pattern of patterns) {
    const dotted = dottedSysctl(pattern);
    const stem = patternStem(dotted);
    const namespace = namespaceOf(stem);
    if (namespace !== undefined) (stem === dotted ? names : prefixes).set(stem, namespace);
  }
  return { names, prefixes };
}

/** Upstream's words for the first setting the pod may not ask for; undefined when it may ask for all of them. */
export function forbiddenSysctl({ spec }: Pod, allowed: SysctlAllowlist): string | undefined {
  for (const { name } of spec.securityContext?.sysctls ?? []) {
    const dotted = dottedSysctl(name);
    const prefix = [...allowed.prefixes].find(([each]) => dotted.startsWith(each));
    const namespace = allowed.names.get(dotted) ?? prefix?.[1];
    if (namespace === undefined) return `forbidden sysctl: "${dotted}" not allowlisted`;
    const isOfNode = namespace === "ipc" ? spec.hostIPC === true : spec.hostNetwork === true;
    if (isOfNode) return `forbidden sysctl: "${dotted}" not allowed with host ${namespace} enabled`;
  }
  return undefined;
}
