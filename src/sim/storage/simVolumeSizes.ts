/**
 * Sizes of the volumes of simulated CSI drivers: that of the volume in the storage system, which its controller grows, and that
 * of its file system or device on the node, which NodeExpandVolume grows. Survive the machine.
 */
import { GrpcStatus } from "../../core/grpcStatus.ts";
import { csiFailure } from "./simCsiMounts.ts";

export const SIM_GIBIBYTE = 2n ** 30n;

/** Returns a size as claims have it. */
export const sizeText = (bytes: bigint): string => `${bytes / SIM_GIBIBYTE}Gi`;

/** State of a claim whose expansion the node leaves to the controller. */
export const RESIZE_INFEASIBLE = "NodeResizeInfeasible";

/** The size of a new volume. */
export const FIRST_SIZE = SIM_GIBIBYTE;

export interface SimVolumeSizes {
  /** Returns the size in the storage system, in bytes. */
  of(volume: string): bigint;
  /** Grows the volume in the storage system. */
  grow(volume: string, bytes: bigint): void;
  /** Grows it on the node, and returns its size there. Throws if it is smaller in the storage system. */
  expand(volume: string, bytes: bigint): bigint;
  /**
   * Notes that its driver has refused to expand it while it is in use. A kubelet asks for no pod again then, so this stays,
   * whatever the answer to a call for another pod at the same time, until an expansion succeeds.
   */
  refuseInUse(volume: string): void;
  isInUse(volume: string): boolean;
  /** Notes whether its controller waits until it is attached to no node before it grows it. */
  setAwaited(volume: string, isAwaited: boolean): void;
  isAwaited(volume: string): boolean;
}

/** Creates the sizes; volumes by their handles. */
export function createSimVolumeSizes(): SimVolumeSizes {
  const sizes = new Map<string, bigint>();
  const inUse = new Set<string>();
  const awaited = new Set<string>();
  const of = (volume: string): bigint => sizes.get(volume) ?? FIRST_SIZE;
  return {
    of,
    grow: (volume, bytes) => void sizes.set(volume, bytes),
    expand(volume, bytes) {
      const size = of(volume);
      if (bytes > size) throw csiFailure(GrpcStatus.outOfRange, `${volume} has ${size} bytes`);
      inUse.delete(volume);
      return size;
    },
    refuseInUse: (volume) => void inUse.add(volume),
    isInUse: (volume) => inUse.has(volume),
    setAwaited: (volume, isAwaited) => void (isAwaited ? awaited.add(volume) : awaited.delete(volume)),
    isAwaited: (volume) => awaited.has(volume),
  };
}
