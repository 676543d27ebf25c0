/**
 * Reports in log and metrics whether the watches of the API server work. Reflectors emit this health and never error.
 */
import type { ApiResourceName } from "../core/api/apiResources.ts";
import type { KubeletError } from "../core/errors.ts";
import type { Telemetry } from "../ports/telemetry.ts";

/**
 * Returns an observer of each resource's health. The source label of pods is `api`; others have the resource's name.
 */
export function reportHealth({
  log,
  metrics,
}: Telemetry): (resource: ApiResourceName, problem: KubeletError | undefined) => void {
  const ailing = new Set<ApiResourceName>();
  return (resource, problem) => {
    const source = resource === "pods" ? "api" : resource;
    metrics.gauge("rxlet_source_up", problem === undefined ? 1 : 0, { source });
    if (ailing.has(resource) === (problem !== undefined)) return;
    if (problem === undefined) {
      ailing.delete(resource);
      log.info("The API server is watched again", { source });
    } else {
      ailing.add(resource);
      log.warn("Cannot watch the API server; the objects last seen stay in use", { source, error: problem });
    }
  };
}
