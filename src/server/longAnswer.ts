/**
 * Responses that may be silent for longer than the usual idle timeout and are cancelled when the client disconnects.
 */
import type { Context } from "hono";
import { fromEvent, type MonoTypeOperatorFunction, takeUntil } from "rxjs";
import type { ServerBindings } from "./serverBindings.ts";

/** Upstream's timeout for any response: four hours, in milliseconds. */
const LONG_ANSWER_MS = 4 * 60 * 60 * 1000;

/** Extends the timeout for this response. The next response on the connection has the usual timeout again. */
export function allowLongAnswer(context: Context): void {
  const { outgoing } = (context.env ?? {}) as Partial<ServerBindings>;
  outgoing?.socket?.setTimeout(LONG_ANSWER_MS);
}

/** Completes a call without a value when the client disconnects. */
export const whileWanted = <T>(context: Context): MonoTypeOperatorFunction<T> =>
  takeUntil(fromEvent(context.req.raw.signal, "abort"));
