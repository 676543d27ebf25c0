import { afterEach, describe, expect, it } from "vitest";
import { execPluginMetrics } from "../../../src/commands/execPluginMetrics.ts";
import type { ClientConfig } from "../../../src/core/api/clientConfig.ts";
import { epochMs } from "../../../src/core/ids.ts";
import { createMetrics, type MetricsSink } from "../../../src/sinks/metrics.ts";
import { createTestAuthority } from "../../support/apiServer/certificates.ts";
import { parseExposition } from "../../support/exposition.ts";
import { realClock } from "../../support/realClock.ts";

const HOUR_MS = 3_600_000;
const [NODE, BOOTSTRAP] = [{}, {}] as unknown as readonly [ClientConfig, ClientConfig];

let open: MetricsSink | undefined;
afterEach(() => open?.close());

/** The figures after an hour has passed, in hours. */
async function figures(metrics: MetricsSink): Promise<readonly (number | undefined)[]> {
  const samples = parseExposition(await metrics.render()).flatMap((family) => family.samples);
  const hours = (name: string) => {
    const found = samples.find(({ series }) => series.startsWith(`${name}{`) || series === name)?.value;
    return found === undefined ? undefined : Math.round(found / 360) / 10;
  };
  const age = "rest_client_exec_plugin_certificate_rotation_age";
  const count = samples.find(({ series }) => series.startsWith(`${age}_count`))?.value;
  return [hours("rest_client_exec_plugin_ttl_seconds"), count, hours(`${age}_sum`)];
}

describe("metrics of exec plugins", () => {
  it("tell how long the next certificate to end lives, and how old those were that were replaced", async () => {
    const metrics = createMetrics();
    open = metrics;
    const now = realClock.wallTime() + HOUR_MS;
    const record = execPluginMetrics(metrics, { wallTime: () => epochMs(now) });
    expect(await figures(metrics)).toEqual([Infinity, 0, 0]);

    const authority = await createTestAuthority();
    const certificate = (lifeHours: number) => authority.client({ commonName: "n" }, lifeHours * HOUR_MS);
    const [first, second, other] = [await certificate(5), await certificate(9), await certificate(3)];
    record(NODE, first);
    record(NODE, first);
    record(BOOTSTRAP, other);
    record(BOOTSTRAP, { certificate: "none", key: "none" });
    expect(await figures(metrics)).toEqual([2, 0, 0]);
    record(BOOTSTRAP, second);
    // Certificates of tests began a day before they were made.
    expect(await figures(metrics)).toEqual([4, 1, 25]);
  });
});
