/**
 * `/debug/flags/v`: PUT sets the log verbosity.
 * Upstream: StringFlagPutHandler of apiserver, GlogSetter of component-base.
 */
import type { Hono } from "hono";
import { readVerbosity } from "../core/server/readVerbosity.ts";

/** Sets the verbosity for all subsequent log lines. */
export type SetVerbosity = (verbosity: number) => void;

const TEXT = { "content-type": "text/plain" };

/** Adds the route. The app accepts request bodies on this path only. */
export function addDebugFlagsRoute(app: Hono, setVerbosity: SetVerbosity): void {
  app.all("/debug/flags/v", async (context) => {
    if (context.req.method !== "PUT") return context.body("unsupported http method\n", 406, TEXT);
    const read = readVerbosity(await context.req.text());
    if (!read.ok) return context.body(`${read.error.message}\n`, 400, TEXT);
    setVerbosity(read.value);
    return context.body(`successfully set klog.logging.verbosity to ${read.value}\n`, 200, TEXT);
  });
}
