/** Reasons why a node cannot run pods. Upstream: runtimeErrors and networkErrors of pkg/kubelet/runtime.go. */
import { formatDuration } from "../config/duration.ts";
import type { MonotonicMs } from "../ids.ts";
import type { RuntimeState } from "../runtime/runtimeState.ts";

/** The facts about the runtime that a node's readiness depends on. */
export interface NodeHealth {
  readonly runtime: Pick<RuntimeState, "runtimeProblems" | "networkProblems" | "downSince">;
  /** Time of the last relist; undefined before the first one. */
  readonly relistedAt: MonotonicMs | undefined;
  readonly resyncPeriodMs: number;
  readonly startedAt: MonotonicMs;
  readonly now: MonotonicMs;
}

/** Upstream's maxWaitForContainerRuntime: how long the runtime may be down or unknown before it is reported. */
const PATIENCE_MS = 30_000;
/** Upstream's relist threshold. */
const STALLED_MS = 180_000;
const MS_PER_SECOND = 1_000;

/**
 * Returns the problems in upstream's text; undefined while the runtime is unknown or has been down only briefly, then
 * the last reported ones stay.
 */
export function nodeProblems({ runtime, relistedAt, resyncPeriodMs, startedAt, now }: NodeHealth) {
  const { downSince, runtimeProblems, networkProblems } = runtime;
  const unknownSince = downSince ?? (relistedAt === undefined ? startedAt : undefined);
  if (unknownSince !== undefined && now - unknownSince < PATIENCE_MS) return undefined;
  const runtimes = downSince === undefined ? runtimeProblems : ["container runtime is down"];
  return [...runtimes, ...stalled(relistedAt, now, resyncPeriodMs + STALLED_MS), ...networkProblems];
}

function stalled(relistedAt: MonotonicMs | undefined, now: number, thresholdMs: number): readonly string[] {
  if (relistedAt === undefined) return ["PLEG is not healthy: pleg has yet to be successful"];
  if (now - relistedAt < thresholdMs) return [];
  const quietMs = Math.round((now - relistedAt) / MS_PER_SECOND) * MS_PER_SECOND;
  const threshold = formatDuration(thresholdMs);
  return [`PLEG is not healthy: pleg was last seen active ${formatDuration(quietMs)} ago; threshold is ${threshold}`];
}
