/**
 * `/healthz` and one route per check. The plain answer hides why a check failed (the port needs no authentication);
 * the reason is in the log and on the route of the check itself. Upstream: apiserver's healthz handlers.
 */
import type { Context, Hono } from "hono";
import type { ManifestProblem } from "../core/pod/sourceSnapshot.ts";
import type { HealthCheck, KubeletQueries } from "../ports/kubeletQueries.ts";
import type { Metrics, Telemetry } from "../ports/telemetry.ts";
import { onlyReads } from "./onlyMethods.ts";

const PLAIN = { "content-type": "text/plain; charset=utf-8" };

/** Status and text of `/healthz` for these checks. */
function healthzAnswer(
  checks: readonly HealthCheck[],
  warnings: readonly string[],
  query: { readonly isVerbose: boolean; readonly excluded: readonly string[] },
): { readonly status: 200 | 500; readonly text: string } {
  const isExcluded = (check: HealthCheck): boolean => query.excluded.includes(check.name);
  const lines = checks.map((check) => {
    if (isExcluded(check)) return `[+]${check.name} excluded: ok\n`;
    return check.problem === undefined ? `[+]${check.name} ok\n` : `[-]${check.name} failed: reason withheld\n`;
  });
  const unknown = query.excluded.filter((name) => !checks.some((check) => check.name === name));
  if (unknown.length > 0) {
    const names = unknown.map((name) => JSON.stringify(name)).join(",");
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}\n`);
  }
  lines.push(...warnings.map((warning) => `warn: ${warning}\n`));
  const isFailed = checks.some((check) => check.problem !== undefined && !isExcluded(check));
  if (isFailed) return { status: 500, text: `${lines.join("")}healthz check failed\n` };
  return { status: 200, text: query.isVerbose ? `${lines.join("")}healthz check passed\n` : "ok" };
}

/** Adds `/healthz` and `/healthz/<check>` to an app. Checks run at each request. */
export function addHealthzRoutes(app: Hono, queries: KubeletQueries, { log, metrics }: Telemetry): void {
  onlyReads(app, "/healthz", (context) => {
    const checks = queries.health();
    for (const check of checks) {
      if (!(context.req.queries("exclude") ?? []).includes(check.name)) countCheck(metrics, check);
    }
    const answer = healthzAnswer(checks, manifestWarnings(queries.manifestProblems()), {
      isVerbose: context.req.query("verbose") !== undefined,
      excluded: context.req.queries("exclude") ?? [],
    });
    if (answer.status === 500) {
      const problems = Object.fromEntries(checks.map(({ name, problem }) => [name, problem]));
      log.warn("Health check failed", { logger: "server", problems });
    }
    return context.body(answer.text, answer.status, PLAIN);
  });
  onlyReads(app, "/healthz/:check", (context) => checkAnswer(context, queries, metrics));
}

/**
 * Invalid manifests do not make a node unhealthy, so they only cause warnings. The reasons may quote a manifest and are
 * not shown.
 */
function manifestWarnings(problems: readonly ManifestProblem[]): readonly string[] {
  if (problems.length === 0) return [];
  const manifests = new Set(problems.map(({ origin }) => origin)).size;
  const counted = `${countOf(problems.length, "problem")} in ${countOf(manifests, "manifest")}`;
  return [`${counted}; the log and "rxlet explain POD" have the reasons`];
}

const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Upstream: component-base's ObserveHealthcheck. */
function countCheck(metrics: Metrics, { name, problem }: HealthCheck): void {
  const labels = { name, type: "healthz" };
  metrics.gauge("kubernetes_healthcheck", problem === undefined ? 1 : 0, labels);
  metrics.count("kubernetes_healthchecks_total", { ...labels, status: problem === undefined ? "success" : "error" });
}

function checkAnswer(context: Context, queries: KubeletQueries, metrics: Metrics): Response | Promise<Response> {
  const check = queries.health().find(({ name }) => name === context.req.param("check"));
  if (check === undefined) return context.notFound();
  countCheck(metrics, check);
  if (check.problem === undefined) return context.body("ok", 200, PLAIN);
  return context.body(`internal server error: ${check.problem}\n`, 500, PLAIN);
}
