/**
 * Pod annotations that tune crash-loop backoff within the bounds of the node: the initial delay, the maximum delay, and
 * a retry on demand. Upstream has only the node-wide maximum.
 */
import type { BackoffPolicy } from "../backoff.ts";
import { formatDuration, parseDuration } from "../config/duration.ts";

/** First delay of the pod's containers, a Go duration. */
export const INITIAL_DELAY = "rxlet.dev/crash-loop-initial-delay";
/** Longest delay of the pod's containers, a Go duration. */
export const MAX_DELAY = "rxlet.dev/crash-loop-max-delay";
/** Any change of its value resets all backoffs of the pod. By convention an instant. */
export const RETRY_AT = "rxlet.dev/retry-at";

/**
 * The shortest delay that a pod may set, in milliseconds; the same as upstream's lower bound of the node-wide maximum.
 */
const SHORTEST_DELAY_MS = 1_000;

/** A backoff policy, and the annotation values that could not be used unchanged. */
export interface SteeredPolicy {
  readonly policy: BackoffPolicy;
  /** A sentence per problem, naming the field and the value used instead. */
  readonly problems: readonly string[];
}

type Annotations = Readonly<Record<string, string>>;

/**
 * Returns the policy for a pod. A value that is not a duration counts as absent; a value outside the node's bounds is
 * clamped.
 */
export function steerCrashLoop(annotations: Annotations | undefined, node: BackoffPolicy): SteeredPolicy {
  if (annotations?.[INITIAL_DELAY] === undefined && annotations?.[MAX_DELAY] === undefined) {
    return { policy: node, problems: [] };
  }
  const problems: string[] = [];
  const read = (key: string, usualMs: number, boundMs: number, bound: string): number => {
    const text = annotations[key];
    if (text === undefined) return usualMs;
    const field = `metadata.annotations[${key}]: ${JSON.stringify(text.slice(0, 64))}`;
    const ms = parseDuration(text);
    if (ms === undefined) {
      problems.push(`${field} is not a duration such as 5s or 1m30s; ${formatDuration(usualMs)} is used`);
      return usualMs;
    }
    if (ms < shortestMs) {
      problems.push(`${field} is below the shortest delay; ${formatDuration(shortestMs)} is used`);
      return shortestMs;
    }
    if (ms > boundMs) {
      problems.push(`${field} is above ${bound}; ${formatDuration(boundMs)} is used`);
      return boundMs;
    }
    return ms;
  };
  const shortestMs = Math.min(SHORTEST_DELAY_MS, node.maxMs);
  const maxMs = read(MAX_DELAY, node.maxMs, node.maxMs, "the longest delay of this node");
  const initialMs = read(INITIAL_DELAY, Math.min(node.initialMs, maxMs), maxMs, "the pod's longest delay");
  return { policy: { ...node, initialMs, maxMs }, problems };
}
