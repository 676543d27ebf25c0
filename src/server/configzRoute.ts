/**
 * `/configz`: the effective configuration in its wire form.
 * Upstream: component-base/configz.
 */
import type { Hono } from "hono";
import { onlyReads } from "./onlyMethods.ts";

/** Adds the route. `document` must not contain secrets. */
export function addConfigzRoute(app: Hono, document: Readonly<Record<string, unknown>>): void {
  const text = JSON.stringify({ kubeletconfig: document });
  onlyReads(app, "/configz", (context) => context.body(text, 200, { "content-type": "application/json" }));
}
