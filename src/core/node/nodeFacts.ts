/** What a Node's status is made from, at one instant. */
import type { ResourceAmounts } from "../resources/resourceList.ts";
import type { RuntimeHandlerState } from "../runtime/runtimeState.ts";
import type { NodeSettings } from "./nodeSettings.ts";

/** Addresses of the machine. */
export interface MachineAddresses {
  /** Of the interface with the default route: one per family, IPv4 first; loopback's where there is no other at start. */
  readonly ips: readonly string[];
  /** Of all interfaces. */
  readonly interfaceIps: readonly string[];
  /** What the node's name resolves to; empty when nobody knows it. */
  readonly nameIps: readonly string[];
}

/** Which machine this is. */
export interface MachineIdentity {
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  readonly operatingSystem: string;
  readonly architecture: string;
  readonly swapBytes: bigint;
}

/** An image in the runtime. */
export interface NodeImage {
  readonly id: string;
  readonly repoDigests: readonly string[];
  readonly repoTags: readonly string[];
  /** Bytes on disk. */
  readonly size: bigint;
}

/** What the runtime says of itself. */
export interface NodeRuntime {
  /** Empty when unknown. */
  readonly name: string;
  /** In its own words. */
  readonly version: string;
  readonly handlers: readonly RuntimeHandlerState[];
  /** undefined when it tells of no features. */
  readonly supplementalGroupsPolicy: boolean | undefined;
}

/** What the node runs short of. */
export interface NodePressures {
  readonly memory: boolean;
  readonly disk: boolean;
  readonly pid: boolean;
}

export const NO_PRESSURE: NodePressures = { memory: false, disk: false, pid: false };

export interface NodeFacts {
  readonly name: string;
  readonly settings: NodeSettings;
  readonly machine: MachineIdentity & MachineAddresses;
  readonly capacity: ResourceAmounts;
  readonly allocatable: ResourceAmounts;
  readonly runtime: NodeRuntime;
  /** Why it cannot run pods, in upstream's words; empty when it can, undefined while that cannot be told. */
  readonly problems: readonly string[] | undefined;
  readonly pressures: NodePressures;
  /** undefined before they were listed once. */
  readonly images: readonly NodeImage[] | undefined;
}
