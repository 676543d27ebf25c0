/**
 * Resources of the node beside their eviction thresholds, and what the node would free or evict first, as the server
 * returns it. docs/operations.md documents the format; fields may be added but not changed. Bounds: MAX_PODS pods;
 * those of the images are in core/image/reclaimableImages.ts.
 */
import type { Pod } from "../api.ts";
import type { EpochMs, MonotonicMs } from "../ids.ts";
import type { ImageGcPolicy } from "../image/imageGc.ts";
import { type ImageUse, type ReclaimableImages, reclaimableImages } from "../image/reclaimableImages.ts";
import type { NodePressures } from "../node/nodeFacts.ts";
import { formatInstantMs } from "../time/civilTime.ts";
import type { EvictionDecision } from "./evictionView.ts";
import type { Observation } from "./observations.ts";
import type { PressureState } from "./nodePressure.ts";
import { rankReason } from "./rankReason.ts";
import type { PodRank } from "./ranking.ts";
import { amountOf, resourceOf, type Signal, type Threshold } from "./thresholds.ts";
import { changePerMinute, type Trend } from "./trend.ts";

/** Maximum number of pods in the order of eviction. */
export const MAX_PODS = 20;

/** The last look at a signal. */
export interface SignalLook {
  readonly observation: Observation;
  readonly trend: Trend;
}

/** Last looks by signal. */
export type SignalLooks = ReadonlyMap<Signal, SignalLook>;

export interface PressureView {
  /** Time of the snapshot. */
  readonly at: string;
  /** Conditions of the node that are true: `MemoryPressure`, `DiskPressure`, `PIDPressure`. */
  readonly conditions: readonly string[];
  /** Signals with a threshold. */
  readonly signals: readonly SignalView[];
  readonly eviction: EvictionOrder;
  /** Resources that the node frees before it evicts a pod when a disk is short; absent when the runtime lists nothing. */
  readonly reclaim?: ReclaimView;
  /** The last time that the node freed resources or evicted pods. */
  readonly lastDecision?: DecisionView;
}

/** Amounts are bytes, inodes or process IDs. */
export interface SignalView {
  readonly signal: Signal;
  readonly unit: "bytes" | "inodes" | "pids";
  /** Absent while the figure could not be measured; `secondsAgo` is the age of the measurement. */
  readonly measured?: { readonly available: number; readonly capacity: number; readonly secondsAgo: number };
  readonly changePerMinute?: number;
  readonly thresholds: readonly ThresholdView[];
}

export interface ThresholdView {
  readonly kind: "hard" | "soft";
  /** The threshold is met while less is available; absent for a share of an unknown capacity. */
  readonly amount?: number;
  /** Available amount above the threshold; negative below it. */
  readonly distance?: number;
  readonly graceSeconds?: number;
  /** Seconds since the threshold was met; absent when it is not met. */
  readonly metSeconds?: number;
}

export interface EvictionOrder {
  /** The signal that decides the order: one that met its threshold, else the closest. Absent without observations. */
  readonly signal?: Signal;
  readonly pods: readonly { readonly namespace: string; readonly name: string; readonly reason: string }[];
  /** Number of pods left out. */
  readonly more: number;
  /** Why the order is unknown. */
  readonly problem?: string;
}

export interface ReclaimView {
  readonly deadContainers: number;
  readonly images: ReclaimableImages;
}

export interface DecisionView {
  readonly at: string;
  readonly signal: string;
  readonly available?: string;
  readonly threshold?: string;
  readonly reclaimed: readonly string[];
  readonly evicted: readonly { readonly namespace: string; readonly name: string; readonly message: string }[];
  readonly more: number;
}

export interface PressureInput {
  readonly now: { readonly wall: EpochMs; readonly mono: MonotonicMs };
  readonly thresholds: readonly Threshold[];
  readonly looks: SignalLooks;
  readonly state: PressureState;
  readonly pressures: NodePressures;
  readonly order: { readonly ranks: readonly PodRank[] } | { readonly problem: string };
  /** Resources that no pod needs; undefined when the runtime lists nothing. */
  readonly unused: { readonly deadContainers: number; readonly images: ImageUse } | undefined;
  readonly policy: ImageGcPolicy;
  /** Pods that run or may start. */
  readonly pods: readonly Pod[];
  readonly decision: EvictionDecision | undefined;
}

/** Signals that are not observed where the writable layers are on a disk of another signal. */
const OPTIONAL: ReadonlySet<Signal> = new Set(["containerfs.available", "containerfs.inodesFree"]);

/** Returns the view. */
export function pressureView(input: PressureInput): PressureView {
  const { now, thresholds, looks, pressures, unused, policy, pods, decision } = input;
  const signals = [...new Set(thresholds.map(({ signal }) => signal))]
    .filter((signal) => looks.has(signal) || !OPTIONAL.has(signal))
    .map((signal) => signalView(signal, input));
  return {
    at: formatInstantMs(now.wall),
    conditions: [
      ...(pressures.memory ? ["MemoryPressure"] : []),
      ...(pressures.disk ? ["DiskPressure"] : []),
      ...(pressures.pid ? ["PIDPressure"] : []),
    ],
    signals,
    eviction: evictionOrder(input),
    ...(unused && {
      reclaim: {
        deadContainers: unused.deadContainers,
        images: reclaimableImages(unused.images, pods, policy, now.wall),
      },
    }),
    ...(decision && { lastDecision: decisionView(decision) }),
  };
}

function signalView(signal: Signal, { thresholds, looks, state, now }: PressureInput): SignalView {
  const look = looks.get(signal);
  const change = look && changePerMinute(look.trend, look.observation);
  return {
    signal,
    unit: unitOf(signal),
    ...(look && {
      measured: {
        available: look.observation.available,
        capacity: look.observation.capacity,
        secondsAgo: secondsSince(look.observation.at, now.mono),
      },
    }),
    ...(change !== undefined && { changePerMinute: Math.round(change) }),
    thresholds: thresholds
      .filter((threshold) => threshold.signal === signal)
      .map((threshold) => thresholdView(threshold, look?.observation, state.metSince.get(threshold), now.mono)),
  };
}

function thresholdView(
  { least, graceMs }: Threshold,
  seen: Observation | undefined,
  metSince: MonotonicMs | undefined,
  now: MonotonicMs,
): ThresholdView {
  const amount = seen === undefined ? ("units" in least ? least.units : undefined) : amountOf(least, seen.capacity);
  return {
    kind: graceMs > 0 ? "soft" : "hard",
    ...(amount !== undefined && { amount }),
    ...(amount !== undefined && seen !== undefined && { distance: seen.available - amount }),
    ...(graceMs > 0 && { graceSeconds: graceMs / 1_000 }),
    ...(metSince !== undefined && { metSeconds: secondsSince(metSince, now) }),
  };
}

/**
 * Returns the signal that decides the order of eviction: the first one with a threshold that is met, else the one with
 * the smallest distance relative to its capacity.
 */
export function decidingSignal(thresholds: readonly Threshold[], looks: SignalLooks): Signal | undefined {
  let closest: { readonly signal: Signal; readonly share: number } | undefined;
  for (const { signal, least } of thresholds) {
    const seen = looks.get(signal)?.observation;
    if (seen === undefined || seen.capacity === 0) continue;
    const distance = seen.available - amountOf(least, seen.capacity);
    if (distance < 0) return signal;
    const share = distance / seen.capacity;
    if (closest === undefined || share < closest.share) closest = { signal, share };
  }
  return closest?.signal;
}

function evictionOrder({ order, thresholds, looks }: PressureInput): EvictionOrder {
  const signal = decidingSignal(thresholds, looks);
  if ("problem" in order) return { ...(signal && { signal }), pods: [], more: 0, problem: order.problem };
  if (signal === undefined) return { pods: [], more: 0, problem: "no signal with a threshold was measured yet" };
  const { ranks } = order;
  return {
    signal,
    pods: ranks.slice(0, MAX_PODS).map((rank) => ({
      namespace: rank.namespace,
      name: rank.name,
      reason: rankReason(signal, rank),
    })),
    more: Math.max(0, ranks.length - MAX_PODS),
  };
}

function decisionView({ at, signal, available, threshold, reclaimed, evicted }: EvictionDecision): DecisionView {
  return {
    at: formatInstantMs(at.wall),
    signal,
    ...(available !== undefined && { available }),
    ...(threshold !== undefined && { threshold }),
    reclaimed,
    evicted: evicted.slice(0, MAX_PODS).map(({ namespace, name, message }) => ({ namespace, name, message })),
    more: Math.max(0, evicted.length - MAX_PODS),
  };
}

function unitOf(signal: Signal): SignalView["unit"] {
  const resource = resourceOf(signal);
  return resource === "pids" || resource === "inodes" ? resource : "bytes";
}

const secondsSince = (at: MonotonicMs, now: MonotonicMs): number => Math.round(Math.max(0, now - at)) / 1_000;
