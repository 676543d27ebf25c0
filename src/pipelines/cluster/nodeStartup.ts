/** Startup latency of the node, from start to Ready; observed once. Upstream: node_startup_latency_tracker.go. */
import type { MonotonicMs } from "../../core/ids.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";

export interface NodeStartup {
  /** Called when the first attempt to register begins. */
  attempted(): void;
  /** Called when the Node was created, and did not exist before. */
  registered(): void;
  /** Called when a Ready status was written. */
  ready(): void;
}

const seconds = (ms: number): number => ms / 1000;

/** Starts the tracker: the kubelet starts now. A Node that existed before gives no metric. */
export function createNodeStartup({
  clock,
  machine,
  telemetry: { metrics },
}: Pick<KubeletPorts, "clock" | "machine" | "telemetry">): NodeStartup {
  const startedAt = clock.monotonicMs();
  let attemptedAt: MonotonicMs | undefined;
  let registeredAt: MonotonicMs | undefined;
  let isReady = false;
  return {
    attempted() {
      attemptedAt ??= clock.monotonicMs();
    },
    registered() {
      if (attemptedAt === undefined || registeredAt !== undefined) return;
      registeredAt = clock.monotonicMs();
      metrics.gauge("kubelet_node_startup_pre_kubelet_duration_seconds", seconds(machine.uptimeMs));
      metrics.gauge("kubelet_node_startup_pre_registration_duration_seconds", seconds(attemptedAt - startedAt));
      metrics.gauge("kubelet_node_startup_registration_duration_seconds", seconds(registeredAt - attemptedAt));
    },
    ready() {
      if (registeredAt === undefined || isReady) return;
      isReady = true;
      const now = clock.monotonicMs();
      metrics.gauge("kubelet_node_startup_post_registration_duration_seconds", seconds(now - registeredAt));
      metrics.gauge("kubelet_node_startup_duration_seconds", seconds(machine.uptimeMs + now - startedAt));
    },
  };
}
