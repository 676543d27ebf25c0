/** The pause container of a sandbox, as Docker is asked for it. Pure. */
import { NamespaceMode, Protocol } from "../../gen/cri.ts";
import type { LinuxSandboxSecurityContext, PodSandboxConfig, PortMapping } from "../../gen/cri.ts";
import { sandboxLabels } from "./names.ts";
import { cgroupParent } from "./resourceLimits.ts";
import { cannot, securityPart, userOf } from "./securityOptions.ts";

/** Surroundings of the sandbox that its body depends on. */
export interface SandboxPlace {
  readonly image: string;
  /** Runtime of Docker; empty: its default. */
  readonly runtime: string;
  readonly cgroupDriver: "cgroupfs" | "systemd";
  /** Whether a network of ours connects the sandbox, instead of Docker's bridge. */
  readonly hasPodNetwork: boolean;
  /** Whether Docker gives containers other user ids than ours. */
  readonly remapsUsers: boolean;
  /** The lowest score that processes here can be given. */
  readonly lowestOomScore: number;
}

/** Relative CPU time of a pause process, and a score that ends it after all containers. */
const CPU_SHARES = 2;
const OOM_SCORE = -998;

/** Protocols as Docker writes them. */
export const PROTOCOL: Readonly<Record<number, "tcp" | "udp" | "sctp">> = {
  [Protocol.TCP]: "tcp",
  [Protocol.UDP]: "udp",
  [Protocol.SCTP]: "sctp",
};

/** Whether a sandbox uses the network of the machine. */
export const isOnHostNetwork = (config: PodSandboxConfig): boolean =>
  config.linux?.securityContext?.namespaceOptions?.network === NamespaceMode.NODE;

/** Refuses a user namespace of the pod's own: Docker has one for all containers. */
export function refuseUserNamespace(context: Pick<LinuxSandboxSecurityContext, "namespaceOptions"> | undefined): void {
  const options = context?.namespaceOptions?.usernsOptions;
  if (options !== undefined && options.mode !== NamespaceMode.NODE) throw cannot("a user namespace per pod");
}

/** Returns the body of the request. Throws UNIMPLEMENTED for what Docker cannot do. */
export function sandboxBody(
  config: PodSandboxConfig,
  place: SandboxPlace,
  seccompText: string | undefined,
): Record<string, unknown> {
  const context = config.linux?.securityContext;
  refuseUserNamespace(context);
  const user = context && userOf(context);
  const ports =
    place.hasPodNetwork || isOnHostNetwork(config) ? [] : config.portMappings.filter(({ hostPort }) => hostPort > 0);
  return {
    Hostname: config.hostname,
    Image: place.image,
    Labels: sandboxLabels(config.labels, config.annotations, place.hasPodNetwork && !isOnHostNetwork(config)),
    ...(user === undefined ? {} : { User: user }),
    ExposedPorts: Object.fromEntries(ports.map((port) => [portName(port), {}])),
    HostConfig: {
      ...(context === undefined ? {} : securityPart(context, seccompText)),
      ...namespaces(config, place),
      ...dns(config),
      Sysctls: config.linux?.sysctls ?? {},
      PortBindings: bindings(ports),
      OomScoreAdj: Math.max(OOM_SCORE, place.lowestOomScore),
      CpuShares: CPU_SHARES,
      CgroupParent: cgroupParent(config.linux?.cgroupParent ?? "", place.cgroupDriver),
      ...(place.runtime === "" ? {} : { Runtime: place.runtime }),
    },
  };
}

function namespaces(config: PodSandboxConfig, place: SandboxPlace): Record<string, string> {
  const options = config.linux?.securityContext?.namespaceOptions;
  return {
    NetworkMode: isOnHostNetwork(config) ? "host" : place.hasPodNetwork ? "none" : "default",
    IpcMode: options?.ipc === NamespaceMode.NODE ? "host" : "shareable",
    ...(options?.pid === NamespaceMode.NODE ? { PidMode: "host" } : {}),
    ...(place.remapsUsers ? { UsernsMode: "host" } : {}),
  };
}

function dns({ dnsConfig }: PodSandboxConfig): Record<string, readonly string[]> {
  if (dnsConfig === undefined) return {};
  return { Dns: dnsConfig.servers, DnsSearch: dnsConfig.searches, DnsOptions: dnsConfig.options };
}

const portName = (port: PortMapping): string => `${port.containerPort}/${PROTOCOL[port.protocol] ?? "tcp"}`;

function bindings(ports: readonly PortMapping[]): Record<string, readonly unknown[]> {
  const byPort: Record<string, unknown[]> = {};
  for (const port of ports) {
    (byPort[portName(port)] ??= []).push({ HostIp: port.hostIp, HostPort: String(port.hostPort) });
  }
  return byPort;
}
