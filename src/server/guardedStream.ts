/**
 * A stream on its way to a client: it may wait for its source for ever, but not for the client. A source that fails says
 * why at the end of what it gave, since the status was sent long ago; upstream does so, too.
 */
import type { Subscription } from "rxjs";
import { toKubeletError } from "../core/errors.ts";
import type { Clock } from "../ports/clock.ts";

/** Longest time for a client to take a piece. */
const STALL_MS = 60_000;

export interface GuardOfStream {
  readonly clock: Clock;
  /** The client takes nothing: cut it off. */
  stalled(): void;
  /** Called once, however it ends. */
  ended(): void;
}

/** Passes the source on, a piece when it is asked for. */
export function guardedStream(
  source: ReadableStream<Uint8Array>,
  { clock, stalled, ended }: GuardOfStream,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  let stall: Subscription | undefined;
  let isOver = false;
  const end = (): void => {
    stall?.unsubscribe();
    if (!isOver) ended();
    isOver = true;
  };
  const giveUp = (): void => {
    end();
    stalled();
    reader.cancel().catch(() => {});
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        stall?.unsubscribe();
        try {
          const { value, done } = await reader.read();
          if (isOver) return;
          if (!done) {
            controller.enqueue(value);
            stall = clock.scheduler.schedule(giveUp, STALL_MS);
            return;
          }
        } catch (thrown) {
          if (isOver) return;
          controller.enqueue(new TextEncoder().encode(toKubeletError(thrown).message));
        }
        end();
        controller.close();
      },
      async cancel() {
        end();
        await reader.cancel();
      },
    },
    { highWaterMark: 0 },
  );
}
