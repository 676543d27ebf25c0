/**
 * Parses the configured eviction thresholds. Upstream: ParseThresholdConfig and UpdateContainerFsThresholds of
 * pkg/kubelet/eviction. Configured thresholds of `containerfs` are ignored, as upstream: those of `nodefs` count. They are
 * observed only where containers have a file system apart from images; elsewhere upstream repeats the signal of another
 * file system.
 */
import { parseDuration } from "../config/duration.ts";
import { formatQuantity, parseQuantity, type QuantityFormat, quantityOf } from "../quantity.ts";

/** An observed eviction signal. */
export type Signal =
  | "memory.available"
  | "allocatableMemory.available"
  | "nodefs.available"
  | "nodefs.inodesFree"
  | "imagefs.available"
  | "imagefs.inodesFree"
  | "containerfs.available"
  | "containerfs.inodesFree"
  | "pid.available";

/** The resource that is short when a threshold is met, as events and statuses name it. */
export type StarvedResource = "memory" | "ephemeral-storage" | "inodes" | "pids";

const RESOURCE_OF: Readonly<Record<Signal, StarvedResource>> = {
  "memory.available": "memory",
  "allocatableMemory.available": "memory",
  "nodefs.available": "ephemeral-storage",
  "nodefs.inodesFree": "inodes",
  "imagefs.available": "ephemeral-storage",
  "imagefs.inodesFree": "inodes",
  "containerfs.available": "ephemeral-storage",
  "containerfs.inodesFree": "inodes",
  "pid.available": "pids",
};

/** Returns the resource of a signal. */
export const resourceOf = (signal: Signal): StarvedResource => RESOURCE_OF[signal];

/** Every signal that a threshold may be set for, in upstream's order. */
export const EVICTION_SIGNALS: readonly string[] = [
  "memory.available",
  "nodefs.available",
  "nodefs.inodesFree",
  "imagefs.available",
  "imagefs.inodesFree",
  "containerfs.available",
  "containerfs.inodesFree",
  "pid.available",
  "allocatableMemory.available",
];

/** Bytes, inodes or process IDs, or a share of the capacity from 0 to 1. */
export type ThresholdAmount =
  | { readonly units: number /** Default: DecimalSI. */; readonly format?: QuantityFormat }
  | { readonly share: number };

/** A threshold is met while less than `least` is available. */
export interface Threshold {
  readonly signal: Signal;
  readonly least: ThresholdAmount;
  /** How long it must be met before a pod is evicted; 0 for a hard threshold. */
  readonly graceMs: number;
  /** After its grace period, the threshold stays met until this much more is available. */
  readonly reclaim: ThresholdAmount | undefined;
}

/** Settings by signal, as in KubeletConfiguration. */
export interface EvictionSettings {
  readonly evictionHard: Readonly<Record<string, string>>;
  readonly evictionSoft: Readonly<Record<string, string>>;
  readonly evictionSoftGracePeriod: Readonly<Record<string, string>>;
  readonly evictionMinimumReclaim: Readonly<Record<string, string>>;
  readonly enforceNodeAllocatable: readonly string[];
}

/**
 * Returns the share of a percentage. Upstream computes it as a 32-bit float, which determines its last bits. NaN for a
 * text that is not a number.
 */
export const shareOf = (percentage: string): number => Math.fround(Math.fround(Number(percentage.slice(0, -1))) / 100);

/** Returns the absolute amount for this `capacity`. */
export const amountOf = (amount: ThresholdAmount, capacity: number): number =>
  "units" in amount ? amount.units : Math.trunc(capacity * amount.share);

/** Returns the absolute amount as a quantity. As upstream, every share is in the binary format, also one of inodes. */
export function amountText(amount: ThresholdAmount, capacity: number): string {
  const units = amountOf(amount, capacity);
  const format = "units" in amount ? (amount.format ?? "DecimalSI") : "BinarySI";
  return formatQuantity(
    Number.isInteger(units) ? quantityOf(units, format) : { nano: BigInt(Math.round(units * 1e9)), format },
  );
}

/** Returns the thresholds of validated settings; `0%` and `100%` mean none. */
export function evictionThresholds(settings: EvictionSettings): readonly Threshold[] {
  const { evictionHard, evictionSoft, evictionSoftGracePeriod: grace } = settings;
  const reclaimOf = (signal: string): ThresholdAmount | undefined =>
    parseAmount(settings.evictionMinimumReclaim[signal]);
  const of = (
    thresholds: EvictionSettings["evictionHard"],
    graceMs: (signal: string) => number,
  ): readonly Threshold[] =>
    Object.entries(thresholds).flatMap(([signal, text]) => {
      const least = text === "0%" || text === "100%" ? undefined : parseAmount(text);
      if (least === undefined || !isWatched(signal)) return [];
      return [{ signal, least, graceMs: graceMs(signal), reclaim: reclaimOf(signal) }];
    });
  const hard = of(evictionHard, () => 0);
  // The cgroup of all pods gets the node's threshold as a margin to its limit.
  const ofPods = settings.enforceNodeAllocatable.includes("pods")
    ? hard
        .filter(({ signal }) => signal === "memory.available")
        .map((threshold): Threshold => ({ ...threshold, signal: "allocatableMemory.available" }))
    : [];
  const soft = of(evictionSoft, (signal) => parseDuration(grace[signal] ?? "") ?? 0);
  return [...hard, ...soft, ...ofPods, ...[...hard, ...soft].flatMap(ofContainerFs)];
}

/** Returns the threshold of containers that goes with one of the node. */
function ofContainerFs(threshold: Threshold): readonly Threshold[] {
  switch (threshold.signal) {
    case "nodefs.available":
      return [{ ...threshold, signal: "containerfs.available" }];
    case "nodefs.inodesFree":
      return [{ ...threshold, signal: "containerfs.inodesFree" }];
    default:
      return [];
  }
}

/** Returns whether a threshold for this signal has an effect. */
export const isWatched = (signal: string): signal is Signal =>
  EVICTION_SIGNALS.includes(signal) && !signal.startsWith("containerfs.");

function parseAmount(text: string | undefined): ThresholdAmount | undefined {
  if (text === undefined) return undefined;
  if (text.endsWith("%")) return { share: shareOf(text) };
  const quantity = parseQuantity(text);
  return quantity && { units: Number(quantity.nano) / 1e9, format: quantity.format };
}
