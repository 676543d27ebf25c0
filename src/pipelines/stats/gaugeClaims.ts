/** Gauges of the ResourceClaims in use. Upstream: claimInfoCollector of the DRA manager. */
import type { ClaimInfos } from "../../core/dra/claimInfo.ts";
import type { Metrics } from "../../ports/telemetry.ts";

/** Series of all drivers together; the sum over the drivers counts shared claims more than once. */
const ANY_DRIVER = "<any>";

/** Sets the gauges. `drivers`: all drivers that have a series. */
export function gaugeClaims(claims: ClaimInfos, drivers: Set<string>, metrics: Metrics): void {
  const counts = new Map([[ANY_DRIVER, claims.size]]);
  for (const info of claims.values()) {
    for (const driver of info.drivers.keys()) counts.set(driver, (counts.get(driver) ?? 0) + 1);
  }
  for (const driver of drivers) {
    if (counts.has(driver)) continue;
    metrics.dropGauge("dra_resource_claims_in_use", { driver_name: driver });
    drivers.delete(driver);
  }
  for (const [driver, count] of counts) {
    drivers.add(driver);
    metrics.gauge("dra_resource_claims_in_use", count, { driver_name: driver });
  }
}
