/**
 * How a pod steers its own crash-loop backoff, within the bounds of its node: annotations for the first and the longest
 * delay, and one whose change asks to try again at once. Ours; upstream knows the node-wide maximum alone.
 */
import type { BackoffPolicy } from "../backoff.ts";
import { formatDuration, parseDuration } from "../config/duration.ts";

/** First delay of the pod's containers, a Go duration. */
export const INITIAL_DELAY = "rxlet.dev/crash-loop-initial-delay";
/** Longest delay of the pod's containers, a Go duration. */
export const MAX_DELAY = "rxlet.dev/crash-loop-max-delay";
/** Any value that differs from the last one: every backoff of the pod is forgotten. By custom an instant. */
export const RETRY_AT = "rxlet.dev/retry-at";

/** The shortest delay a pod may ask for; upstream's bound of the node-wide maximum. In milliseconds. */
const SHORTEST_DELAY_MS = 1_000;

/** A policy, and what of the annotations could not be taken as it stands. */
export interface SteeredPolicy {
  readonly policy: BackoffPolicy;
  /** One sentence each, naming the field and what is used instead. */
  readonly problems: readonly string[];
}

type Annotations = Readonly<Record<string, string>>;

/** The policy for a pod: what is no duration counts as absent, what lies outside the node's bounds as the bound. */
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
      problems.push(`${field} is no duration such as 5s or 1m30s; ${formatDuration(usualMs)} is used`);
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
