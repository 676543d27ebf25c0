/** `/flagz` and `/statusz`, as text unless the client asks for an object. Counterparts: flagz and statusz of apiserver. */
import type { Context, Hono } from "hono";
import {
  flagzObject,
  flagzText,
  pageForm,
  type ProcessStatus,
  statuszObject,
  statuszText,
} from "../core/server/zPages.ts";
import type { Clock } from "../ports/clock.ts";
import { onlyReads } from "./onlyMethods.ts";

const PLAIN = { "content-type": "text/plain; charset=utf-8" };

const notAcceptable = (context: Context): Response => context.text("406: Not Acceptable", 406);

/** Adds `/flagz` with these values by flag. */
export function addFlagzRoute(app: Hono, flags: ReadonlyMap<string, string>): void {
  onlyReads(app, "/flagz", (context) => {
    const form = pageForm(context.req.header("accept"), "Flagz");
    if (form === "none") return notAcceptable(context);
    return form === "text" ? context.body(flagzText(flags), 200, PLAIN) : context.json(flagzObject(flags, form));
  });
}

/** What `/statusz` says that does not change. */
export type StatuszFacts = Pick<ProcessStatus, "version" | "platform" | "paths">;

/** Adds `/statusz`; the process counts as started now. */
export function addStatuszRoute(app: Hono, facts: StatuszFacts, clock: Pick<Clock, "wallTime">): void {
  const startedAt = clock.wallTime();
  onlyReads(app, "/statusz", (context) => {
    const form = pageForm(context.req.header("accept"), "Statusz");
    if (form === "none") return notAcceptable(context);
    const status: ProcessStatus = { ...facts, startedAt, now: clock.wallTime() };
    return form === "text" ? context.body(statuszText(status), 200, PLAIN) : context.json(statuszObject(status, form));
  });
}
