/** Notices peers that went away without a word: connections of HTTP/2 on which not even a ping comes back. */
import type { Socket } from "node:net";
import type { SchedulerAction } from "rxjs";
import type { Clock } from "../../ports/clock.ts";

/** A live peer answers a ping, sent every 30 s, within 15 s; as client-go's HTTP/2 health check. */
export const SILENCE_MS = 45_000;
const LOOK_MS = 5_000;

/**
 * Destroys the connection once nothing came for SILENCE_MS; everything under way on it fails then. HTTP/1.1 is left
 * alone: its peers may be silent, and the kernel's keep-alive finds dead ones. Bound: one timer, until it is closed.
 */
export function watchLiveness(socket: Socket & { readonly alpnProtocol?: unknown }, clock: Clock): void {
  if (socket.alpnProtocol !== "h2") return;
  let seenBytes = socket.bytesRead;
  let seenAt: number = clock.monotonicMs();
  const looks = clock.scheduler.schedule(function (this: SchedulerAction<void>) {
    const now = clock.monotonicMs();
    if (socket.bytesRead !== seenBytes) {
      seenBytes = socket.bytesRead;
      seenAt = now;
    }
    if (now - seenAt >= SILENCE_MS) {
      socket.destroy(new Error(`nothing heard for ${SILENCE_MS / 1000} s`));
      return;
    }
    this.schedule(undefined, LOOK_MS);
  }, LOOK_MS);
  socket.once("close", () => looks.unsubscribe());
}
