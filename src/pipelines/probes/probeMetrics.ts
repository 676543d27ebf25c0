/** Metrics of probes, which are removed with the container. Upstream: ProberResults, ProberDuration. */
import { PROBE_KINDS, type ProbeKind, type ProbeOutcome } from "../../core/probe/probeTypes.ts";
import { probeTitle } from "../../core/probe/probeEvents.ts";
import type { MetricLabels } from "../../ports/telemetry.ts";
import type { PodContext } from "../podContext.ts";

const RESULT: Readonly<Record<ProbeOutcome["result"], string>> = {
  success: "successful",
  warning: "successful",
  failure: "failed",
};

function labelsOf({ identity }: PodContext, container: string, kind: ProbeKind): MetricLabels {
  const { name: pod, namespace } = identity;
  return { container, namespace, pod, probe_type: probeTitle(kind) };
}

/** Counts an attempt; observes the duration of successes only, as upstream does. */
export function countAttempt(
  context: PodContext,
  container: string,
  kind: ProbeKind,
  { result }: ProbeOutcome,
  durationMs: number,
): void {
  const { metrics } = context.ports.telemetry;
  const labels = labelsOf(context, container, kind);
  metrics.count("prober_probe_total", { ...labels, pod_uid: context.identity.uid, result: RESULT[result] });
  if (result !== "failure") metrics.observe("prober_probe_duration_seconds", durationMs / 1000, labels);
}

/** Drops the series of a container that is no longer probed. */
export function forgetProbeMetrics(context: PodContext, container: string): void {
  const { metrics } = context.ports.telemetry;
  for (const kind of PROBE_KINDS) {
    const labels = labelsOf(context, container, kind);
    metrics.drop("prober_probe_duration_seconds", labels);
    for (const result of new Set(Object.values(RESULT))) {
      metrics.drop("prober_probe_total", { ...labels, pod_uid: context.identity.uid, result });
    }
  }
}
