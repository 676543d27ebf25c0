/**
 * Sysctls that a pod may set. Names are compared in dotted form. Upstream: pkg/kubelet/sysctl,
 * k8s.io/component-helpers/node/util/sysctl.
 */
import type { Pod } from "../api.ts";
import { isVersionAtLeast } from "../resources/kernelVersion.ts";

/** A kernel namespace that isolates sysctls. */
type SysctlNamespace = "ipc" | "net";

/** Sysctls that pods may set, each with its namespace. */
export interface SysctlAllowlist {
  readonly names: ReadonlyMap<string, SysctlNamespace>;
  readonly prefixes: ReadonlyMap<string, SysctlNamespace>;
}

/** Namespaced sysctls without effect on other pods, with the kernel version that isolated them if it matters. */
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

/** Returns the dotted form of a name. If the first separator is a slash, dots and slashes swap. */
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

/** Returns why this is not an allowed sysctl name, or pattern with a trailing `*`; undefined when it is valid. */
export function sysctlPatternFault(pattern: string): string | undefined {
  if (pattern.length > MAX_LENGTH || !PATTERN.test(pattern)) {
    return `must be a sysctl name of at most ${MAX_LENGTH} characters, a trailing * matches the rest, got ${JSON.stringify(pattern)}`;
  }
  if (namespaceOf(patternStem(dottedSysctl(pattern))) !== undefined) return undefined;
  return `must be a sysctl known to be namespaced, got ${JSON.stringify(pattern)}`;
}

/** Returns the sysctls that every pod may set on this kernel; none on systems other than Linux. */
export function safeSysctls(operatingSystem: string, kernelRelease: string): readonly string[] {
  if (operatingSystem !== "linux") return [];
  return SAFE_SYSCTLS.filter(({ since }) => since === undefined || isVersionAtLeast(kernelRelease, since) === true).map(
    ({ name }) => name,
  );
}

/** Builds the allowlist from names and patterns. Invalid patterns allow nothing. */
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

/** Returns upstream's message for the first forbidden sysctl of the pod; undefined when all are allowed. */
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
