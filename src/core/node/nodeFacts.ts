/** The facts a Node's status is computed from, at one time. */
import type { CloudInstance } from "../cloud/cloudInstance.ts";
import type { ResourceAmounts } from "../resources/resourceList.ts";
import type { RuntimeHandlerState } from "../runtime/runtimeState.ts";
import type { NodeSettings } from "./nodeSettings.ts";

/** Addresses of the machine. */
export interface MachineAddresses {
  /**
   * Addresses of the interface with the default route: one per family, IPv4 first; loopback addresses when there is no
   * other at startup.
   */
  readonly ips: readonly string[];
  /** Addresses of all interfaces. */
  readonly interfaceIps: readonly string[];
  /** Addresses that the node's name resolves to; empty when it does not resolve. */
  readonly nameIps: readonly string[];
}

/** Identity and versions of the machine. */
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

/** The runtime's description of itself. */
export interface NodeRuntime {
  /** Empty when unknown. */
  readonly name: string;
  /** The runtime's own version text. */
  readonly version: string;
  readonly handlers: readonly RuntimeHandlerState[];
  /** undefined when the runtime does not report features. */
  readonly supplementalGroupsPolicy: boolean | undefined;
}

/** Resources that the node is short of. */
export interface NodePressures {
  readonly memory: boolean;
  readonly disk: boolean;
  readonly pid: boolean;
}

export const NO_PRESSURE: NodePressures = { memory: false, disk: false, pid: false };

/** The facts of the node and its runtime. */
export interface NodeFacts {
  readonly name: string;
  readonly settings: NodeSettings;
  readonly machine: MachineIdentity & MachineAddresses;
  readonly capacity: ResourceAmounts;
  readonly allocatable: ResourceAmounts;
  readonly runtime: NodeRuntime;
  /** Why the node cannot run pods, in upstream's text; empty when it can, undefined while that is unknown. */
  readonly problems: readonly string[] | undefined;
  readonly pressures: NodePressures;
  /** undefined before images were listed for the first time. */
  readonly images: readonly NodeImage[] | undefined;
  /** Whether the node has CSI drivers: otherwise no volume of it is attached. */
  readonly hasCsi?: boolean;
  /** Volumes that must not be detached; undefined until those of an earlier kubelet are known, which stay till then. */
  readonly volumesInUse?: readonly string[] | undefined;
  /** The last description of the cloud; undefined before the first one. */
  readonly cloud?: CloudInstance | undefined;
}
