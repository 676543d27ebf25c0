/** The health of what a node follows at its API server, in log and metrics: the reflectors never fail, they say so. */
import type { ApiResourceName } from "../core/api/apiResources.ts";
import type { KubeletError } from "../core/errors.ts";
import type { Telemetry } from "../ports/telemetry.ts";

/** Takes the health of each resource as it changes. Pods are the source `api`, the others have their resource's name. */
export function tellHealth({
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
