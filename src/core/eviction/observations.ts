/** The available amount of each eviction signal. Upstream: makeSignalObservations of pkg/kubelet/eviction. */
import type { CgroupFigures } from "../stats/cgroupFigures.ts";
import type { SpaceFigures } from "../stats/nodeStats.ts";
import type { Signal } from "./thresholds.ts";

/** Amounts in bytes, inodes or process IDs. */
export interface Observation {
  readonly available: number;
  readonly capacity: number;
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
  /** The cgroup of all pods; a limit of 0 means no limit. */
  readonly pods?: Pick<CgroupFigures, "memoryLimit" | "workingSet"> | undefined;
}

/** Returns the observations that these figures provide. */
export function observationsOf({ memory, pids, nodeFs, imageFs, pods }: PressureFigures): Observations {
  const found = new Map<Signal, Observation>();
  const note = (signal: Signal, available: bigint, capacity: bigint): unknown =>
    found.set(signal, { available: Number(available), capacity: Number(capacity) });
  if (memory !== undefined) {
    note("memory.available", memory.availableBytes, memory.availableBytes + memory.workingSetBytes);
  }
  const { memoryLimit = 0, workingSet } = pods ?? {};
  if (memoryLimit > 0 && workingSet !== undefined) {
    found.set("allocatableMemory.available", { available: memoryLimit - workingSet, capacity: memoryLimit });
  }
  if (nodeFs !== undefined) {
    note("nodefs.available", nodeFs.availableBytes, nodeFs.capacityBytes);
    note("nodefs.inodesFree", nodeFs.inodesFree, nodeFs.inodes);
  }
  if (imageFs !== undefined) {
    note("imagefs.available", imageFs.availableBytes, imageFs.capacityBytes);
    note("imagefs.inodesFree", imageFs.inodesFree, imageFs.inodes);
  }
  if (pids !== undefined) note("pid.available", pids.max - pids.running, pids.max);
  return found;
}
