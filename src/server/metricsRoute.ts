/** `/metrics` and `/metrics/probes` in the Prometheus text format. */
import type { Hono } from "hono";
import type { MetricsPage } from "../ports/telemetry.ts";
import { onlyReads } from "./onlyReads.ts";

/** Adds the main page and that of the probes. */
export function addMetricsRoute(app: Hono, page: MetricsPage): void {
  for (const [path, name] of [["/metrics"], ["/metrics/probes", "probes"]] as const) {
    onlyReads(app, path, async (context) => {
      const { contentType, body } = await page.render(name);
      return context.body(body, 200, { "content-type": contentType });
    });
  }
}
