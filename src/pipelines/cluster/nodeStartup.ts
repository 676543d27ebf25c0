/** How long a machine takes to become a node that is Ready: told once. Counterpart: node_startup_latency_tracker.go. */
import type { MonotonicMs } from "../../core/ids.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";

export interface NodeStartup {
  /** The first attempt to register begins. */
  attempted(): void;
  /** The Node was made: it was not there before. */
  registered(): void;
  /** A status was written that says Ready. */
  ready(): void;
}

const seconds = (ms: number): number => ms / 1000;

/** Starts the watch: the kubelet has started now. A Node that was there before makes no metric. */
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
