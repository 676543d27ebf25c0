/**
 * Responses for routes that the configuration disables.
 * Upstream: InstallDebuggingDisabledHandlers.
 */
import type { Hono } from "hono";

/** Answers 405 with `text` for a path and everything below it. */
export function addDisabledRoute(app: Hono, path: string, text: string): void {
  app.all(`${path}/*`, (context) => context.text(`${text}\n`, 405));
}

/** Adds the disabled debugging routes, except those in `but`. */
export function addDisabledRoutes(app: Hono, but: readonly string[] = []): void {
  const paths = ["/run", "/exec", "/attach", "/portForward", "/containerLogs", "/runningpods", "/debug/pprof", "/logs"];
  for (const path of paths) if (!but.includes(path)) addDisabledRoute(app, path, "Debug endpoints are disabled.");
}
