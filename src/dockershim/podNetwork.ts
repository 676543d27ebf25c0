/**
 * The network of sandboxes as the dockershim sees it: who gives a network namespace its addresses. Without one,
 * sandboxes are on Docker's own bridge.
 */
import type { Result } from "../core/result.ts";

/** A port of the machine that is forwarded to a sandbox. */
export interface PodPortMapping {
  readonly protocol: "tcp" | "udp" | "sctp";
  readonly hostPort: number;
  readonly containerPort: number;
  /** Address of the machine to listen on; empty: all. */
  readonly hostIp: string;
}

/** A sandbox that joins or leaves the network. */
export interface NetworkedSandbox {
  /** Id of the pause container. */
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Path of the network namespace, `/proc/PID/ns/net`; empty for `remove` once the pause container has ended. */
  readonly netns: string;
  readonly portMappings: readonly PodPortMapping[];
  readonly annotations: Readonly<Record<string, string>>;
  /** Servers of the pod's names, where the pod names them itself. */
  readonly dns: {
    readonly servers: readonly string[];
    readonly searches: readonly string[];
    readonly options: readonly string[];
  };
  /** Cgroup that holds the pod's containers; empty if none is named. */
  readonly cgroupParent: string;
}

/** Whether sandboxes can get an address now, and why not. */
export interface PodNetworkStatus {
  readonly ready: boolean;
  /** A CamelCase word, for example `NetworkPluginNotReady`. */
  readonly reason?: string;
  readonly message?: string;
}

/** Gives sandboxes their network. Errors are values; each call ends within a bound of its own. */
export interface PodNetwork {
  /** Connects the sandbox; resolves with its addresses, first the one to report. */
  add(sandbox: NetworkedSandbox): Promise<Result<{ readonly ips: readonly string[] }>>;
  /** Disconnects the sandbox; succeeds where it is not connected. */
  remove(sandbox: NetworkedSandbox): Promise<Result<void>>;
  status(): PodNetworkStatus;
  /** Sets the range of the node's pods: one in CIDR notation, or two with a comma; empty while it is not known. */
  updatePodCidr?(podCidr: string): void;
  /** Disconnects sandboxes that it added in an earlier process, where only these exist. Returns false where it has to come again. */
  sweep?(existing: ReadonlySet<string>): Promise<boolean>;
}
