/**
 * Doubling backoffs as immutable tables on monotonic time: crash loops of containers, retries of image pulls, and the
 * delay before a failed pod sync is tried again. A pod worker owns the table of its containers, where syncSteps.ts
 * records each restart; imagePull.ts owns the table of pulls. Bound: MAX_KEYS of a table, the latest.
 * Upstream: client-go's flowcontrol.Backoff, kuberuntime's doBackOff, the pod worker's requeue.
 */
import type { KubeletError } from "./errors.ts";
import { monotonicMs, type MonotonicMs } from "./ids.ts";

/** A doubling backoff: first delay, its cap, and how long a quiet time forgets it. All in milliseconds. */
export interface BackoffPolicy {
  readonly initialMs: number;
  readonly maxMs: number;
  readonly resetAfterMs: number;
}

/** Backoff of one key: the delay now in force and when the key was last let through. */
export interface BackoffEntry {
  readonly delayMs: number;
  readonly updatedAt: MonotonicMs;
}

/** Immutable table of backoffs; crash loops use the keys of `containerBackoffKey`. */
export type ContainerBackoffs = ReadonlyMap<string, BackoffEntry>;

/** The empty table. */
export const NO_BACKOFFS: ContainerBackoffs = new Map();

/** Crash loops: 10 s doubling to 300 s, forgotten after 10 minutes without a crash. */
export const DEFAULT_CRASH_LOOP_POLICY: BackoffPolicy = { initialMs: 10_000, maxMs: 300_000, resetAfterMs: 600_000 };

/** Image pulls: the same curve, counted from the last failed pull. */
export const DEFAULT_IMAGE_PULL_POLICY: BackoffPolicy = DEFAULT_CRASH_LOOP_POLICY;

/** Crash loops under the gate ReduceDefaultCrashLoopBackOffDecay: 1 s doubling to 60 s. */
const REDUCED_CRASH_LOOP_POLICY: BackoffPolicy = { initialMs: 1_000, maxMs: 60_000, resetAfterMs: 600_000 };

/**
 * Crash-loop policy of a node. Its own maximum in milliseconds (`crashLoopBackOff.maxContainerRestartPeriod`) wins over
 * that of the gate, and one below the first delay lowers that too; the quiet time that forgets stays 10 minutes.
 * Upstream: newCrashLoopBackOff.
 */
export function crashLoopPolicy(ownMaxMs: number | undefined, isReduced = false): BackoffPolicy {
  const usual = isReduced ? REDUCED_CRASH_LOOP_POLICY : DEFAULT_CRASH_LOOP_POLICY;
  const maxMs = ownMaxMs ?? usual.maxMs;
  return { ...usual, initialMs: Math.min(usual.initialMs, maxMs), maxMs };
}

/** Key of a container in the crash-loop table. A changed definition gets a new key and so starts without a backoff. */
export const containerBackoffKey = (name: string, specHash: string): string => `${name}/${specHash}`;

const isForgotten = (entry: BackoffEntry, eventAt: MonotonicMs, policy: BackoffPolicy): boolean =>
  eventAt - entry.updatedAt > policy.resetAfterMs;

/**
 * Returns the delay in milliseconds after an event at `eventAt` (an exit, a failed pull): the first delay for a new or
 * forgotten key, else twice the last one up to the maximum.
 */
export function nextDelay(entry: BackoffEntry | undefined, eventAt: MonotonicMs, policy: BackoffPolicy): number {
  if (entry === undefined || isForgotten(entry, eventAt, policy)) return Math.min(policy.initialMs, policy.maxMs);
  return Math.min(entry.delayMs * 2, policy.maxMs);
}

/** Returns the entry after an event at `eventAt` that was let through (or failed) at `now`. */
export const nextBackoff = (
  entry: BackoffEntry | undefined,
  eventAt: MonotonicMs,
  policy: BackoffPolicy,
  now: MonotonicMs = eventAt,
): BackoffEntry => ({ delayMs: nextDelay(entry, eventAt, policy), updatedAt: now });

/**
 * Returns the earliest restart time of a container that exited at `exitedAt`: `exitedAt` plus the current delay. It may
 * lie in the past. undefined when no backoff applies: the container never restarted, or ran long enough for its backoff
 * to be forgotten.
 */
export function backoffUntil(
  backoffs: ContainerBackoffs,
  key: string,
  exitedAt: MonotonicMs,
  policy: BackoffPolicy,
): MonotonicMs | undefined {
  const entry = backoffs.get(key);
  if (entry === undefined || isForgotten(entry, exitedAt, policy)) return undefined;
  return monotonicMs(exitedAt + entry.delayMs);
}

/**
 * Bound on the keys of a table. A container whose definition changes has a new key with each change, and a node has
 * many pods whose images cannot be pulled.
 */
export const MAX_KEYS = 10_000;

/**
 * Returns the table after a restart at `now` that followed an exit at `exitedAt`: the key's next delay is longer. Drops
 * keys whose backoff is forgotten, and beyond MAX_KEYS the one that was registered first.
 */
export function registerRestart(
  backoffs: ContainerBackoffs,
  key: string,
  exitedAt: MonotonicMs,
  now: MonotonicMs,
  policy: BackoffPolicy,
): ContainerBackoffs {
  // A container that exited in time waits for up to the maximum delay, and keeps its backoff meanwhile.
  const since = monotonicMs(now - policy.maxMs);
  const next = new Map([...backoffs].filter(([, entry]) => !isForgotten(entry, since, policy)));
  next.delete(key);
  const [oldest] = next.keys();
  if (next.size >= MAX_KEYS && oldest !== undefined) next.delete(oldest);
  return next.set(key, nextBackoff(backoffs.get(key), exitedAt, policy, now));
}

/**
 * Returns the table after a failed attempt at `now`. For image pulls, where the delay counts from the failure itself.
 */
export const registerFailure = (
  backoffs: ContainerBackoffs,
  key: string,
  now: MonotonicMs,
  policy: BackoffPolicy,
): ContainerBackoffs => registerRestart(backoffs, key, now, now, policy);

/** Returns the earliest retry time of a key whose last attempt failed; undefined when it may be retried at `now`. */
export function retryAt(
  backoffs: ContainerBackoffs,
  key: string,
  now: MonotonicMs,
  policy: BackoffPolicy,
): MonotonicMs | undefined {
  const entry = backoffs.get(key);
  if (entry === undefined || isForgotten(entry, now, policy)) return undefined;
  const until = monotonicMs(entry.updatedAt + entry.delayMs);
  return until > now ? until : undefined;
}

const TRANSIENT_RETRY_MS = 1_000;
const SYNC_RETRY_MS = 10_000;
const RETRY_JITTER = 0.5;

/** Reason of the error for a runtime whose network is not up yet; such a sync is retried soon. */
const NETWORK_NOT_READY = "NetworkNotReady";

/**
 * Returns the delay in milliseconds before a pod whose sync failed with `errors` is synced again: 1 s when all errors
 * say that the network is not ready, else 10 s. `random01` in [0, 1) extends it by up to half.
 */
export function syncErrorDelayMs(errors: readonly KubeletError[], random01: number): number {
  const isTransient = errors.length > 0 && errors.every((error) => error.reason === NETWORK_NOT_READY);
  return (isTransient ? TRANSIENT_RETRY_MS : SYNC_RETRY_MS) * (1 + RETRY_JITTER * random01);
}
