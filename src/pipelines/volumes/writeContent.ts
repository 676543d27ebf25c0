/**
 * Hands the content of a volume to its writer within the bounds of memory: small content at once, large content one
 * volume of the node at a time, so that many large volumes need the memory of one. Stateless. Bound: the budget of the
 * pod, and MAX_VOLUME_BYTES in memory besides contents up to LARGE_BYTES.
 */
import { defer, type Observable, throwError } from "rxjs";
import { err, ok, type Result } from "../../core/result.ts";
import type { Payload } from "../../core/volume/payloadFile.ts";
import type { PodContentBudget } from "../../core/volume/volumeBudget.ts";
import { createSemaphore, type Semaphore } from "../../operators/semaphore.ts";
import type { Clock } from "../../ports/clock.ts";
import type { VolumeContent } from "./volumeContent.ts";

/** Content beyond this size waits for its turn. A ConfigMap or Secret has at most 1 MiB. */
const LARGE_BYTES = 1024 * 1024;
/** Time after which the next large volume no longer waits for a write that does not end. */
const TURN_MS = 60_000;

export interface WriteContentDeps {
  readonly budget: PodContentBudget;
  /** The node's turns for large content. */
  readonly contentTurns: Semaphore;
}

/** Creates the turns of a node. */
export const createContentTurns = (clock: Clock): Semaphore => createSemaphore(1, { ms: TURN_MS, clock });

/**
 * Returns the writes of a volume's content, or why it cannot be written.
 *
 *     small   [write]
 *     large   [write--]
 *     large           [write--]
 *
 * Cancels: the write, or its wait. Errors: those of `write`, and of content that became wrong meanwhile.
 */
export function writeContent<T>(
  volume: string,
  content: VolumeContent,
  { budget, contentTurns }: WriteContentDeps,
  write: (payload: Payload) => Observable<T>,
): Result<Observable<T>> {
  const measured = measure(content);
  if (!measured.ok) return measured;
  const { bytes, small } = measured.value;
  const held = budget.hold(volume, bytes);
  if (!held.ok) return held;
  if (small !== undefined) return ok(write(small));
  const built$ = defer(() => {
    const payload = content.payload();
    return payload.ok ? write(payload.value) : throwError(() => payload.error);
  });
  return ok(contentTurns.run(built$));
}

interface Measured {
  readonly bytes: number;
  /** Undefined for large content, which is dropped while it waits and built again in its turn. */
  readonly small: Payload | undefined;
}

function measure({ payload }: VolumeContent): Result<Measured> {
  const built = payload();
  if (!built.ok) return err(built.error);
  const bytes = [...built.value.values()].reduce((sum, { content }) => sum + content.length, 0);
  return ok({ bytes, small: bytes > LARGE_BYTES ? undefined : built.value });
}
