/**
 * Hints about containers that no inspection has shown yet. A hint that arrives during an inspection may be about a
 * change that the inspection missed. Bound: MAX_MISSED hints, oldest dropped; the relist finds the rest.
 */
import type { PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import type { Sequence } from "../../state/sequence.ts";

const MAX_MISSED = 1024;

export interface MissedHints {
  /** Notes a hint about an unknown container or sandbox. */
  note(id: string): void;
  /**
   * Returns whether a hint about a part of this status came after its inspection began: the inspection must be
   * repeated.
   */
  isBehind(status: PodRuntimeStatus): boolean;
}

/** Creates an empty list. */
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
