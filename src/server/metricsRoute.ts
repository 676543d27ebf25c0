/** `/metrics`, `/metrics/probes` and `/metrics/slis` in the Prometheus text format. */
import type { Hono } from "hono";
import type { MetricsPage } from "../ports/telemetry.ts";
import { onlyReads } from "./onlyMethods.ts";

/** Adds the main page, that of the probes and that of health checks. */
export function addMetricsRoute(app: Hono, page: MetricsPage): void {
  for (const [path, name] of [["/metrics"], ["/metrics/probes", "probes"], ["/metrics/slis", "slis"]] as const) {
    onlyReads(app, path, async (context) => {
      const { contentType, body } = await page.render(name);
      return context.body(body, 200, { "content-type": contentType });
    });
  }
}
