/**
 * Hints about containers that no inspection has shown yet. One that came while an inspection was under way may tell of
 * something that inspection did not see any more. Bound: MAX_MISSED hints, oldest dropped; the relist finds the rest.
 */
import type { PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import type { Sequence } from "../../state/sequence.ts";

const MAX_MISSED = 1024;

export interface MissedHints {
  /** A hint came about a container or sandbox nobody knows. */
  note(id: string): void;
  /** Whether a hint about something in this status came after its inspection began: it is to be repeated. */
  isBehind(status: PodRuntimeStatus): boolean;
}

/** Makes an empty list. */
export function createMissedHints(sequence: Sequence): MissedHints {
  const noted = new Map<string, number>();
  return {
    note(id) {
      noted.delete(id);
      noted.set(id, sequence.next());
      const [oldest] = noted.keys();
      if (noted.size > MAX_MISSED && oldest !== undefined) noted.delete(oldest);
    },
    isBehind({ containers, sandboxes, sequence: seen }) {
      let isBehind = false;
      for (const { id } of [...containers, ...sandboxes]) {
        isBehind ||= (noted.get(id) ?? 0) > seen;
        noted.delete(id);
      }
      return isBehind;
    },
  };
}
