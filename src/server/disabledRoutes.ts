/** What a server without debugging says of the routes it does not have. Upstream: InstallDebuggingDisabledHandlers. */
import type { Hono } from "hono";

/** Adds the answer for a path and all below it. */
export function addDisabledRoute(app: Hono, path: string, text: string): void {
  app.all(`${path}/*`, (context) => context.text(`${text}\n`, 405));
}

/** Adds those of a server without debugging. */
export function addDisabledRoutes(app: Hono, but: readonly string[] = []): void {
  const paths = ["/run", "/exec", "/attach", "/portForward", "/containerLogs", "/runningpods", "/debug/pprof", "/logs"];
  for (const path of paths) if (!but.includes(path)) addDisabledRoute(app, path, "Debug endpoints are disabled.");
}
