/**
 * `/stats/summary` as JSON, `/metrics/resource` and `/metrics/cadvisor` for Prometheus. Upstream: server/stats/handler.go,
 * resource_metrics.go.
 */
import type { Context, Hono } from "hono";
import { firstValueFrom } from "rxjs";
import { toKubeletError } from "../core/errors.ts";
import { metricsHeaders } from "../core/server/metricsHeaders.ts";
import { type PageOptions, resourceMetrics } from "../core/stats/resourceMetrics.ts";
import { summaryDocument } from "../core/stats/summary.ts";
import type { Clock } from "../ports/clock.ts";
import type { NodeStats } from "../ports/nodeStats.ts";
import type { Logger } from "../ports/telemetry.ts";
import { metricsAnswer } from "./metricsBody.ts";
import { onlyReads, serviceRoute } from "./onlyMethods.ts";

const JSON_TYPE = { "content-type": "application/json" };

/** Adds the stats routes. */
export function addStatsRoutes(
  app: Hono,
  stats: NodeStats,
  log: Logger,
  clock: Clock,
  resourcePage: PageOptions = {},
): void {
  const headers = metricsHeaders(clock.wallTime());
  const summary = async (context: Context): Promise<Response> => {
    const wanted = context.req.queries("only_cpu_and_memory") ?? [];
    const isShort = wanted.length === 1 && wanted[0] === "true";
    try {
      const measured = await firstValueFrom(isShort ? stats.cpuAndMemory() : stats.summary());
      return context.body(summaryDocument(measured), 200, JSON_TYPE);
    } catch (thrown) {
      return context.text(`Internal Error: ${toKubeletError(thrown).message}`, 500);
    }
  };
  serviceRoute(app, ["GET", "POST"], "/stats/summary", summary);
  onlyReads(app, "/metrics/resource", async (context) => {
    const measured = await firstValueFrom(stats.cpuAndMemory()).catch((thrown: unknown) => {
      const error = toKubeletError(thrown);
      log.error("Error getting summary for resourceMetric prometheus endpoint", { error });
      return undefined;
    });
    return metricsAnswer(context, [resourceMetrics(measured, resourcePage)], clock, headers);
  });
  onlyReads(app, "/metrics/cadvisor", async (context) =>
    metricsAnswer(context, await firstValueFrom(stats.containerMetrics()), clock, headers),
  );
}
