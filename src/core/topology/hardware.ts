/** Hardware that containers have for themselves. */
import type { Pod } from "../api.ts";
import type { CpuSet } from "../cpu/cpuSet.ts";
import type { MonotonicMs } from "../ids.ts";
import type { NumaMask } from "./numaMask.ts";

/** Ids of devices by resource. */
export type ContainerDevices = ReadonlyMap<string, readonly string[]>;

/** The hardware of one container. */
export interface ContainerHardware {
  /** CPUs of its own; undefined: it runs on the shared ones. */
  readonly cpus?: CpuSet;
  /** Devices of its own. The checkpoint of all devices keeps them over a restart of the kubelet. */
  readonly devices?: ContainerDevices;
  /** Where the topology manager placed it; undefined: anywhere. Not kept over a restart of the kubelet. */
  readonly mask?: NumaMask;
}

/** Hardware by container name. */
export type PodHardware = ReadonlyMap<string, ContainerHardware>;

/** Why hardware cannot be given out, as it appears in the status of the rejected pod. */
export interface HardwareRefusal {
  readonly reason: string;
  readonly message: string;
  /** The devices are at fault, not the CPUs. */
  readonly isOfDevices?: true;
  /** The pod may wait for this device plugin until then, instead. */
  readonly awaits?: { readonly plugin: string; readonly until: MonotonicMs };
}

/** Returns upstream's refusal for an error without a reason of its own. */
export const unexpectedRefusal = (why: string): HardwareRefusal => ({
  reason: "UnexpectedAdmissionError",
  message: `Allocate failed due to ${why}, which is unexpected`,
});

/**
 * Gives a pod the hardware that its containers ask for, or says why it is rejected. `others`: what all other pods have.
 * `kept`: what an earlier kubelet process gave it, which it keeps as far as it is free.
 */
export type AssignHardware = (
  pod: Pod,
  others: readonly PodHardware[],
  kept: PodHardware | undefined,
) => { readonly hardware: PodHardware } | { readonly refusal: HardwareRefusal };

/** Hardware that is given out already. */
export interface Holdings {
  readonly others: readonly PodHardware[];
  /** Hardware of the pod that is being decided. */
  readonly own: PodHardware;
  /** Hardware that an earlier kubelet process gave the pod. */
  readonly kept?: PodHardware | undefined;
}
