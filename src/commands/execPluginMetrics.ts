/**
 * Metrics of client certificates from exec plugins, as in client-go. Owns the last certificate of each configuration.
 */
import { X509Certificate } from "node:crypto";
import type { ClientConfig, TlsIdentity } from "../core/api/clientConfig.ts";
import type { Clock } from "../ports/clock.ts";
import type { MetricsSink } from "../sinks/metrics.ts";

/** Records a certificate. */
export type ExecPluginMetrics = (client: ClientConfig, identity: TlsIdentity) => void;

const MS_PER_SECOND = 1_000;

/** Creates the recorder. Without any certificate the time to live is infinite. */
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

/** Returns undefined for an invalid certificate, which its connection reports. */
function certificateOf({ certificate }: TlsIdentity): X509Certificate | undefined {
  try {
    return new X509Certificate(certificate);
  } catch {
    return undefined;
  }
}
