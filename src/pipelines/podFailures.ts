/** Reasons why containers of a pod do not run, for statuses and timelines. */
import type { KubeletError } from "../core/errors.ts";
import type { MonotonicMs } from "../core/ids.ts";
import type { ContainerFailure } from "../core/timeline/timelineTypes.ts";
import type { NotedFailure, PodMemories } from "./podMemories.ts";

type FailureMemory = Pick<PodMemories, "failures" | "timeline" | "effects">;

/** Notes why a container does not run. */
export function noteFailure(memory: FailureMemory, name: string, error: KubeletError, retryAt?: MonotonicMs): void {
  setFailures(memory, new Map(memory.failures.value).set(name, { error, retryAt }));
}

/** Notes that a container was started. Its failure stays visible until an inspection shows the container running. */
export function endFailure(memory: FailureMemory, name: string): void {
  const noted = memory.failures.value.get(name);
  if (noted === undefined || noted.endedAt !== undefined) return;
  setFailures(memory, new Map(memory.failures.value).set(name, { ...noted, endedAt: memory.effects.requiredSequence }));
}

/** Drops the failures of these containers that have this reason: another attempt has succeeded. */
export function forgetFailures(memory: FailureMemory, names: readonly string[], reason: string): void {
  const isPast = (name: string): boolean => memory.failures.value.get(name)?.error.reason === reason;
  const past = new Set(names.filter(isPast));
  if (past.size === 0) return;
  setFailures(memory, new Map([...memory.failures.value].filter(([name]) => !past.has(name))));
}

/** Writes the timeline first, so that the failure precedes the status that follows from it. */
function setFailures(memory: FailureMemory, failures: ReadonlyMap<string, NotedFailure>): void {
  const shown = unended(failures).map(([name, { error, retryAt }]): readonly [string, ContainerFailure] => {
    return [name, { reason: error.reason, message: error.message, retryAt }];
  });
  memory.timeline.facts.next({ kind: "failures", failures: new Map(shown) });
  memory.failures.set(failures);
}

/**
 * Returns the failures that have not ended. With the sequence number of an inspection, also those that ended too late
 * for that inspection to show it.
 */
export const failuresAt = ({ failures }: Pick<PodMemories, "failures">, sequence?: number): readonly NamedFailure[] =>
  unended(failures.value, sequence);

type NamedFailure = readonly [name: string, failure: NotedFailure];

const unended = (
  failures: ReadonlyMap<string, NotedFailure>,
  sequence = Number.POSITIVE_INFINITY,
): readonly NamedFailure[] => [...failures].filter(([, { endedAt }]) => endedAt === undefined || sequence < endedAt);
