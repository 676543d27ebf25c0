/**
 * The thresholds of eviction as they are configured. Counterpart: ParseThresholdConfig of pkg/kubelet/eviction. Those of
 * `containerfs` are not among them: upstream puts those of `nodefs` or `imagefs` in their place, on the same file system.
 */
import { parseDuration } from "../config/duration.ts";
import { parseQuantity } from "../quantity.ts";

/** What is watched. */
export type Signal =
  | "memory.available"
  | "allocatableMemory.available"
  | "nodefs.available"
  | "nodefs.inodesFree"
  | "imagefs.available"
  | "imagefs.inodesFree"
  | "pid.available";

/** Every signal a threshold may be set for, in upstream's order. */
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

/** Bytes, inodes or process ids; or a share of all there are, 0 to 1. */
export type ThresholdAmount = { readonly units: number } | { readonly share: number };

/** Met while less than `least` is left. */
export interface Threshold {
  readonly signal: Signal;
  readonly least: ThresholdAmount;
  /** How long it has to be met before anybody is evicted for it; 0 for a hard one. */
  readonly graceMs: number;
  /** Once it was met that long, so much more has to be left before it is not any more. */
  readonly reclaim: ThresholdAmount | undefined;
}

/** Settings by signal, as KubeletConfiguration has them. */
export interface EvictionSettings {
  readonly evictionHard: Readonly<Record<string, string>>;
  readonly evictionSoft: Readonly<Record<string, string>>;
  readonly evictionSoftGracePeriod: Readonly<Record<string, string>>;
  readonly evictionMinimumReclaim: Readonly<Record<string, string>>;
  readonly enforceNodeAllocatable: readonly string[];
}

/** A percentage is a 32-bit float upstream: the last bytes of what it stands for follow from it. NaN: no number. */
export const shareOf = (percentage: string): number => Math.fround(Math.fround(Number(percentage.slice(0, -1))) / 100);

/** What it stands for, of `capacity`. */
export const amountOf = (amount: ThresholdAmount, capacity: number): number =>
  "units" in amount ? amount.units : Math.trunc(capacity * amount.share);

/** The thresholds of settings that were validated; `0%` and `100%` mean none. */
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
  // The limit of the cgroup around all pods is kept as far away as that of the node.
  const ofPods = settings.enforceNodeAllocatable.includes("pods")
    ? hard
        .filter(({ signal }) => signal === "memory.available")
        .map((threshold): Threshold => ({ ...threshold, signal: "allocatableMemory.available" }))
    : [];
  return [...hard, ...of(evictionSoft, (signal) => parseDuration(grace[signal] ?? "") ?? 0), ...ofPods];
}

/** Whether a threshold for it counts. */
export const isWatched = (signal: string): signal is Signal =>
  EVICTION_SIGNALS.includes(signal) && !signal.startsWith("containerfs.");

function parseAmount(text: string | undefined): ThresholdAmount | undefined {
  if (text === undefined) return undefined;
  if (text.endsWith("%")) return { share: shareOf(text) };
  const quantity = parseQuantity(text);
  return quantity && { units: Number(quantity.nano) / 1e9 };
}
