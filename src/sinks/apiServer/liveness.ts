/** Detects dead peers: HTTP/2 connections on which not even a ping is answered. */
import type { Socket } from "node:net";
import type { SchedulerAction } from "rxjs";
import type { Clock } from "../../ports/clock.ts";

/** A live peer answers a ping, sent every 30 s, within 15 s, as in client-go's HTTP/2 health check. */
const SILENCE_MS = 45_000;
const LOOK_MS = 5_000;

/**
 * Destroys the connection when no data arrived for SILENCE_MS, which fails all its requests. Ignores HTTP/1.1, whose
 * peers may be silent; the kernel's keep-alive finds the dead ones. Bound: one timer per connection, until it closes.
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
