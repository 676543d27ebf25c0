/** `/metrics`, `/metrics/probes` and `/metrics/slis` in the Prometheus text format. */
import type { Hono } from "hono";
import { firstValueFrom } from "rxjs";
import { metricsHeaders } from "../core/server/metricsHeaders.ts";
import type { Clock } from "../ports/clock.ts";
import type { NodeStats } from "../ports/nodeStats.ts";
import type { MetricsPage } from "../ports/telemetry.ts";
import { onlyReads } from "./onlyMethods.ts";

/** Adds the main page, which waits for the disk measurements, and the pages of probes and of health checks. */
export function addMetricsRoute(
  app: Hono,
  page: MetricsPage,
  stats: Pick<NodeStats, "gaugeDisks">,
  clock: Pick<Clock, "wallTime">,
): void {
  const headers = metricsHeaders(clock.wallTime());
  for (const [path, name] of [["/metrics"], ["/metrics/probes", "probes"], ["/metrics/slis", "slis"]] as const) {
    onlyReads(app, path, async (context) => {
      if (name === undefined) await firstValueFrom(stats.gaugeDisks());
      return context.body(await page.render(name), 200, { ...headers });
    });
  }
}
