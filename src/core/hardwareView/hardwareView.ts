/**
 * The hardware of the node and the containers that have it, as the server returns it. docs/operations.md documents the
 * format; fields may be added but not changed. Sets of CPUs and of devices are ranges, `0-3,8`, so that the view of a
 * large machine stays small. Bounds: MAX_OWNERS containers per list, MAX_CLAIMS claims, MAX_CLAIM_DEVICES devices of each,
 * MAX_IDS ranges of devices.
 */

/** Maximum number of containers per list; a node runs at most some hundred pods. */
export const MAX_OWNERS = 1_024;
/** Maximum number of claims. */
export const MAX_CLAIMS = 512;
/** Maximum number of devices per claim; more than an allocation can have. */
export const MAX_CLAIM_DEVICES = 64;

/** The start of a list, and how many items are left out. */
export interface Listed<T> {
  readonly first: readonly T[];
  readonly more: number;
}

/** Returns the first items of a list. */
export const listed = <T>(items: readonly T[], most: number): Listed<T> => ({
  first: items.slice(0, most),
  more: Math.max(0, items.length - most),
});

export interface HardwareView {
  /** Time of the snapshot. */
  readonly at: string;
  readonly policies: PoliciesView;
  /** Absent when the kernel does not say where the CPUs are. */
  readonly cpus?: CpusView;
  /** NUMA nodes by ascending id; a machine without NUMA nodes has one. */
  readonly nodes: readonly NumaNodeView[];
  readonly devices: readonly DeviceView[];
  readonly claims: Listed<ClaimView>;
}

/** Values of the configuration. */
export interface PoliciesView {
  readonly cpu: "none" | "static";
  readonly memory: "None" | "Static";
  readonly topology: string;
  readonly scope: string;
}

/** A container that has hardware for itself. */
export interface OwnerView {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** CPUs of the machine, as ranges; empty for none. */
export interface CpusView {
  readonly online: string;
  /** CPUs that the machine has and the kernel does not use. */
  readonly offline: string;
  /** CPUs that no container gets for itself. */
  readonly reserved: string;
  /** CPUs of containers that have none for themselves. */
  readonly shared: string;
  readonly sockets: number;
  readonly threadsPerCore: number;
}

export interface NumaNodeView {
  readonly id: number;
  /** Sockets of its CPUs. */
  readonly sockets: readonly number[];
  readonly cpus: string;
  /** CPUs of each core, by the lowest. */
  readonly cores: readonly string[];
  /** CPUs that share a last-level cache; empty when the kernel does not say or all CPUs of the node share one. */
  readonly caches: readonly string[];
  /** CPUs that containers have for themselves. */
  readonly owned: Listed<{ readonly cpus: string; readonly owner: OwnerView }>;
  /** Distance to each node, in the order of the list; absent when the kernel does not say. */
  readonly distances?: readonly number[];
  readonly memory: readonly MemoryView[];
}

/** Memory of one kind on a NUMA node, in bytes. */
export interface MemoryView {
  /** `memory`, or `hugepages-2Mi`. */
  readonly resource: string;
  readonly total: number;
  /** Absent without the static policy, which alone reserves memory and gives it out. */
  readonly given?: { readonly reserved: number; readonly allocatable: number; readonly free: number };
  readonly owned: Listed<MemoryBlockView>;
}

/** A request that is served by some NUMA nodes together. */
export interface MemoryBlockView {
  readonly bytes: number;
  /** Less than `bytes` where a later container of the pod uses memory of an init container again. */
  readonly held: number;
  readonly nodes: readonly number[];
  readonly owner: OwnerView;
}

/** Devices of one resource. */
export interface DeviceView {
  readonly resource: string;
  /** Whether their plugin answers; `gone`: it has not come back. */
  readonly plugin: "ready" | "away" | "gone";
  readonly total: number;
  /** Healthy devices that no container has. */
  readonly free: number;
  /** Ids of devices that their plugin calls unhealthy, as ranges. */
  readonly unhealthy: Listed<string>;
  readonly unhealthyCount: number;
  /** Number of devices by NUMA node; a device that is close to several counts for each. */
  readonly nodes: Readonly<Record<string, number>>;
  readonly owned: Listed<DeviceOwnerView>;
}

export interface DeviceOwnerView {
  /** Ids, as ranges. */
  readonly ids: Listed<string>;
  readonly count: number;
  /** NUMA nodes of these devices, ascending. */
  readonly nodes: readonly number[];
  readonly owner: OwnerView;
}

/** A ResourceClaim that pods of the node use. */
export interface ClaimView {
  readonly namespace: string;
  readonly name: string;
  readonly isPrepared: boolean;
  /** Devices as `driver/pool/device`. */
  readonly devices: Listed<string>;
  /** Containers that use it; a pod without such a container appears with an empty one. */
  readonly owners: Listed<OwnerView>;
}
