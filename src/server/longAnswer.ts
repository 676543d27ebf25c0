/** Answers that may be silent for longer than a usual one, and end when nobody waits for them any more. */
import type { Context } from "hono";
import { fromEvent, type MonoTypeOperatorFunction, takeUntil } from "rxjs";
import type { ServerBindings } from "./serverBindings.ts";

/** Upstream's bound of any answer: four hours, in milliseconds. */
const LONG_ANSWER_MS = 4 * 60 * 60 * 1000;

/** Lets this answer take its time; the next one on the connection has the usual time again. */
export function allowLongAnswer(context: Context): void {
  const { outgoing } = context.env as Partial<ServerBindings>;
  outgoing?.socket?.setTimeout(LONG_ANSWER_MS);
}

/** Ends a call when the client has gone; it then completes without a value. */
export const whileWanted = <T>(context: Context): MonoTypeOperatorFunction<T> =>
  takeUntil(fromEvent(context.req.raw.signal, "abort"));
