/** The available amount of each eviction signal. Upstream: makeSignalObservations of pkg/kubelet/eviction. */
import type { MonotonicMs } from "../ids.ts";
import { formatQuantity, quantityOf } from "../quantity.ts";
import type { CgroupFigures } from "../stats/cgroupFigures.ts";
import type { SpaceFigures } from "../stats/nodeStats.ts";
import { resourceOf, type Signal } from "./thresholds.ts";

/** Amounts in bytes, inodes or process IDs. */
export interface Observation {
  readonly available: number;
  readonly capacity: number;
  /** When the measurement began. */
  readonly at: MonotonicMs;
}

/** Observations by signal; a signal that could not be observed is absent. */
export type Observations = ReadonlyMap<Signal, Observation>;

/** Measured figures; undefined when the measurement failed or was not requested. */
export interface PressureFigures {
  readonly memory?: { readonly availableBytes: bigint; readonly workingSetBytes: bigint } | undefined;
  readonly pids?: { readonly max: bigint; readonly running: bigint } | undefined;
  /** File system of the kubelet's root directory. */
  readonly nodeFs?: SpaceFigures | undefined;
  readonly imageFs?: SpaceFigures | undefined;
  /** File system of the writable layers, if it is another one than that of images. */
  readonly containerFs?: SpaceFigures | undefined;
  /** The cgroup of all pods; a limit of 0 means no limit. */
  readonly pods?: Pick<CgroupFigures, "memoryLimit" | "workingSet"> | undefined;
}

/** Returns the observations that these figures provide; their measurement began at `at`. */
export function observationsOf(
  { memory, pids, nodeFs, imageFs, containerFs, pods }: PressureFigures,
  at: MonotonicMs,
): Observations {
  const found = new Map<Signal, Observation>();
  const note = (signal: Signal, available: bigint, capacity: bigint): unknown =>
    found.set(signal, { available: Number(available), capacity: Number(capacity), at });
  if (memory !== undefined) {
    note("memory.available", memory.availableBytes, memory.availableBytes + memory.workingSetBytes);
  }
  const { memoryLimit = 0, workingSet } = pods ?? {};
  if (memoryLimit > 0 && workingSet !== undefined) {
    found.set("allocatableMemory.available", { available: memoryLimit - workingSet, capacity: memoryLimit, at });
  }
  const noteSpace = (disk: "nodefs" | "imagefs" | "containerfs", space: SpaceFigures | undefined): void => {
    if (space === undefined) return;
    note(`${disk}.available`, space.availableBytes, space.capacityBytes);
    note(`${disk}.inodesFree`, space.inodesFree, space.inodes);
  };
  noteSpace("nodefs", nodeFs);
  noteSpace("imagefs", imageFs);
  noteSpace("containerfs", containerFs);
  if (pids !== undefined) note("pid.available", pids.max - pids.running, pids.max);
  return found;
}

/** Returns the available amount as a quantity, in the format of upstream. */
export function availableText(signal: Signal, { available }: Observation): string {
  const resource = resourceOf(signal);
  const isBytes = resource === "memory" || resource === "ephemeral-storage";
  return formatQuantity(quantityOf(available, isBytes ? "BinarySI" : "DecimalSI"));
}
