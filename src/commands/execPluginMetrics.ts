/** Client certificates that exec plugins gave, as client-go's metrics. Owns the last one of each configuration. */
import { X509Certificate } from "node:crypto";
import type { ClientConfig, TlsIdentity } from "../core/api/clientConfig.ts";
import type { Clock } from "../ports/clock.ts";
import type { MetricsSink } from "../sinks/metrics.ts";

/** Takes note of a certificate. */
export type ExecPluginMetrics = (client: ClientConfig, identity: TlsIdentity) => void;

const MS_PER_SECOND = 1_000;

/** Makes it; without any certificate the time to live of the next one to end is infinite. */
export function execPluginMetrics(
  metrics: Pick<MetricsSink, "gauge" | "observe" | "beforeRender">,
  clock: Pick<Clock, "wallTime">,
): ExecPluginMetrics {
  const last = new Map<ClientConfig, X509Certificate>();
  const secondsUntil = (date: Date): number => (date.getTime() - clock.wallTime()) / MS_PER_SECOND;
  metrics.beforeRender(() => {
    const left = [...last.values()].map(({ validToDate }) => secondsUntil(validToDate));
    metrics.gauge("rest_client_exec_plugin_ttl_seconds", Math.min(...left));
  });
  return (client, identity) => {
    const next = certificateOf(identity);
    const before = last.get(client);
    if (next === undefined || before?.fingerprint256 === next.fingerprint256) return;
    last.set(client, next);
    if (before !== undefined) {
      metrics.observe("rest_client_exec_plugin_certificate_rotation_age", -secondsUntil(before.validFromDate));
    }
  };
}

/** undefined: it is none, which its connection will say. */
function certificateOf({ certificate }: TlsIdentity): X509Certificate | undefined {
  try {
    return new X509Certificate(certificate);
  } catch {
    return undefined;
  }
}
