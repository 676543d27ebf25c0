/**
 * A watch as an answer: one line of JSON per event, for as long as the client listens. Bound: MAX_WAITING lines that a
 * client has not taken, beside those it begins with; one that is further behind is cut off, and begins anew.
 */
import type { Context } from "hono";
import type { Observable, Subscription } from "rxjs";
import type { ServerBindings } from "../serverBindings.ts";

const MAX_WAITING = 1_000;
/** Asks the network whether a client that says nothing is still there, in milliseconds. */
const KEEP_ALIVE_MS = 30_000;

/** Answers with these lines; they are subscribed to until the client goes. */
export function watchAnswer(context: Context, lines$: Observable<unknown>): Response {
  const { outgoing } = (context.env ?? {}) as Partial<ServerBindings>;
  outgoing?.socket?.setTimeout(0);
  outgoing?.socket?.setKeepAlive(true, KEEP_ALIVE_MS);
  const encoder = new TextEncoder();
  let subscription: Subscription | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const waiting = (): number => 1 - (controller.desiredSize ?? 1);
      /** What a watch begins with may be more. */
      let allowed = Number.POSITIVE_INFINITY;
      subscription = lines$.subscribe({
        next: (line) => {
          if (waiting() < allowed) return controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
          subscription?.unsubscribe();
          controller.error(new Error(`the client has not taken ${allowed} lines`));
        },
        error: (thrown: unknown) => controller.error(thrown),
        complete: () => controller.close(),
      });
      allowed = MAX_WAITING + waiting();
    },
    cancel: () => subscription?.unsubscribe(),
  });
  return context.body(body, 200, { "content-type": "application/json", "cache-control": "no-cache, private" });
}
