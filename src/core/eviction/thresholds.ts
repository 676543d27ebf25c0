/**
 * Parses the configured eviction thresholds. Upstream: ParseThresholdConfig of pkg/kubelet/eviction. Thresholds of
 * `containerfs` are ignored: upstream replaces them with those of `nodefs` or `imagefs`, which is the same file system.
 */
import { parseDuration } from "../config/duration.ts";
import { parseQuantity } from "../quantity.ts";

/** An observed eviction signal. */
export type Signal =
  | "memory.available"
  | "allocatableMemory.available"
  | "nodefs.available"
  | "nodefs.inodesFree"
  | "imagefs.available"
  | "imagefs.inodesFree"
  | "pid.available";

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
export type ThresholdAmount = { readonly units: number } | { readonly share: number };

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
  return [...hard, ...of(evictionSoft, (signal) => parseDuration(grace[signal] ?? "") ?? 0), ...ofPods];
}

/** Returns whether a threshold for this signal has an effect. */
export const isWatched = (signal: string): signal is Signal =>
  EVICTION_SIGNALS.includes(signal) && !signal.startsWith("containerfs.");

function parseAmount(text: string | undefined): ThresholdAmount | undefined {
  if (text === undefined) return undefined;
  if (text.endsWith("%")) return { share: shareOf(text) };
  const quantity = parseQuantity(text);
  return quantity && { units: Number(quantity.nano) / 1e9 };
}
