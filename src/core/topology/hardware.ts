/** Hardware that containers have for themselves. */
import type { Pod } from "../api.ts";
import type { CpuSet } from "../cpu/cpuSet.ts";
import type { MonotonicMs } from "../ids.ts";
import type { DeviceAnswers, DeviceQuestion } from "./deviceQuestion.ts";
import type { NumaMask } from "./numaMask.ts";

/** Ids of devices by resource. */
export type ContainerDevices = ReadonlyMap<string, readonly string[]>;

/** Memory of one kind that a container has on some NUMA nodes. */
export interface MemoryBlock {
  /** Ids of the nodes, ascending, at least one. */
  readonly nodes: readonly number[];
  /** `memory`, or `hugepages-2Mi`. */
  readonly resource: string;
  /** The request of the container. */
  readonly bytes: number;
  /** The part that counts: less than all for an init container whose memory later containers of the pod use again. */
  readonly heldBytes: number;
}

/** The hardware of one container. */
export interface ContainerHardware {
  /** CPUs of its own; undefined: it runs on the shared ones. */
  readonly cpus?: CpuSet;
  /** Devices of its own. The checkpoint of all devices keeps them over a restart of the kubelet. */
  readonly devices?: ContainerDevices;
  /** Memory on NUMA nodes, a block per kind; undefined: it may be anywhere. */
  readonly memory?: readonly MemoryBlock[];
  /** Where the topology manager placed it; undefined: anywhere. Not kept over a restart of the kubelet. */
  readonly mask?: NumaMask;
}

/** The hardware that a manager gives a container, and the question whose answer may change it. */
export interface GivenHardware extends ContainerHardware {
  readonly asks?: DeviceQuestion;
}

/**
 * Name of the pod as a whole among its containers: with the gate PodLevelResourceManagers it has all that its containers have,
 * and what none of them has. No container has an empty name.
 */
export const WHOLE_POD = "";

/** Hardware by container name, and of the pod as a whole by WHOLE_POD. */
export type PodHardware = ReadonlyMap<string, ContainerHardware>;

/** Why hardware cannot be given out, as it appears in the status of the rejected pod. */
export interface HardwareRefusal {
  readonly reason: string;
  readonly message: string;
  /** The pod may wait for this device plugin until then, instead. */
  readonly awaits?: { readonly plugin: string; readonly until: MonotonicMs };
  /** The manager that refuses; undefined: no common place. */
  readonly by?: HardwareKind;
  /** The figures behind it. */
  readonly remarks?: readonly Remark[];
}

/** An entry of the pod's timeline. */
export interface Remark {
  readonly what: string;
  readonly message: string;
}

/** The kind of hardware that a resource manager gives out. */
export type HardwareKind = "cpus" | "memory" | "devices";

/** Returns upstream's refusal for an error without a reason of its own. */
export const unexpectedRefusal = (why: string): HardwareRefusal => ({
  reason: "UnexpectedAdmissionError",
  message: `Allocate failed due to ${why}, which is unexpected`,
});

/** Returns upstream's refusal of a pod whose containers leave nothing to those that share its resources. */
export const emptyPool = (by: HardwareKind, why: string): HardwareRefusal => ({
  reason: "EmptyPodSharedPoolError",
  message: `pod rejected, ${why}`,
  by,
});

/** The hardware of a pod. With a question it is provisional: its answer, passed as one of `answers`, may change it. */
export interface AssignedHardware {
  readonly hardware: PodHardware;
  readonly asks?: DeviceQuestion;
  /** Why a running pod keeps only the hardware of some managers; absent: it has all that it asks for. */
  readonly missing?: HardwareRefusal;
}

/** Hardware that the pod has already: as a rule, an earlier kubelet process gave it. */
export interface EarlierHardware {
  readonly hardware: PodHardware;
  /** A running pod keeps what is free. Any other pod keeps all of it or none: nothing ties it to a part. */
  readonly isRunning: boolean;
}

/**
 * Gives a pod the hardware that its containers ask for, or says why it is rejected. `others`: what all other pods have.
 */
export type AssignHardware = (
  pod: Pod,
  others: readonly PodHardware[],
  kept: EarlierHardware | undefined,
  answers?: DeviceAnswers,
) => AssignedHardware | { readonly refusal: HardwareRefusal };

/** Hardware that is given out already. */
export interface Holdings {
  readonly others: readonly PodHardware[];
  /** Hardware of the pod that is being decided. */
  readonly own: PodHardware;
  /** Hardware that an earlier kubelet process gave the pod. */
  readonly kept?: PodHardware | undefined;
  /** Answers of plugins for this pod. */
  readonly answers?: DeviceAnswers | undefined;
}
