/**
 * A watch response: one JSON line per event until the client disconnects. Bound: MAX_WAITING unsent lines in addition
 * to the initial ones. A client further behind is disconnected and has to restart its watch.
 */
import type { Context } from "hono";
import type { Observable, Subscription } from "rxjs";
import type { ServerBindings } from "../serverBindings.ts";

const MAX_WAITING = 1_000;
/** TCP keep-alive interval that detects a vanished client, in milliseconds. */
const KEEP_ALIVE_MS = 30_000;

const HEADERS = { "content-type": "application/json", "cache-control": "no-cache, private" };

/** Responds with the given lines; unsubscribes when the client disconnects. */
export function watchAnswer(context: Context, lines$: Observable<unknown>): Response {
  // The answer to a HEAD has no body: its lines would have no reader, and no end.
  if (context.req.method === "HEAD") return context.body(null, 200, HEADERS);
  const { outgoing } = (context.env ?? {}) as Partial<ServerBindings>;
  outgoing?.socket?.setTimeout(0);
  outgoing?.socket?.setKeepAlive(true, KEEP_ALIVE_MS);
  const encoder = new TextEncoder();
  let subscription: Subscription | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const waiting = (): number => 1 - (controller.desiredSize ?? 1);
      /** The initial lines may exceed the bound. */
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
  return context.body(body, 200, HEADERS);
}
