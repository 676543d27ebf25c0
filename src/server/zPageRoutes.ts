/**
 * `/flagz` and `/statusz`, as text unless the client requests an object.
 * Upstream: flagz and statusz of apiserver.
 */
import type { Context, Hono } from "hono";
import { stringify } from "yaml";
import {
  flagzObject,
  flagzText,
  notAcceptableStatus,
  pageForm,
  pageHeaders,
  type ProcessStatus,
  statuszObject,
  statuszText,
} from "../core/server/zPages.ts";
import type { Clock } from "../ports/clock.ts";
import { onlyReads } from "./onlyMethods.ts";

const PLAIN = { "content-type": "text/plain; charset=utf-8" };

/** Returns the page in the format that the client accepts. */
function pageAnswer(
  context: Context,
  kind: "Flagz" | "Statusz",
  text: () => string,
  object: (version: "v1alpha1" | "v1beta1") => object,
): Response {
  const form = pageForm(context.req.header("accept"), kind);
  if (form === "none") return context.body(notAcceptableStatus(), 406, { "content-type": "application/json" });
  if (form === "text") return context.body(text(), 200, PLAIN);
  const found = object(form.version);
  const body = form.format === "json" ? `${JSON.stringify(found)}\n` : stringify(found, { sortMapEntries: true });
  return context.body(body, 200, pageHeaders(form, kind));
}

/** Adds `/flagz` with the given flag values. */
export function addFlagzRoute(app: Hono, flags: ReadonlyMap<string, string>): void {
  onlyReads(app, "/flagz", (context) =>
    pageAnswer(
      context,
      "Flagz",
      () => flagzText(flags),
      (version) => flagzObject(flags, version),
    ),
  );
}

/** The constant facts on `/statusz`. */
export type StatuszFacts = Pick<ProcessStatus, "version" | "platform" | "paths">;

/** Adds `/statusz`. The process start time is the time of this call. */
export function addStatuszRoute(app: Hono, facts: StatuszFacts, clock: Pick<Clock, "wallTime">): void {
  const startedAt = clock.wallTime();
  onlyReads(app, "/statusz", (context) => {
    const status: ProcessStatus = { ...facts, startedAt, now: clock.wallTime() };
    return pageAnswer(
      context,
      "Statusz",
      () => statuszText(status),
      (version) => statuszObject(status, version),
    );
  });
}
