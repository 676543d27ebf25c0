/**
 * Metrics of a pod worker: starts, exits, durations of its runs. Upstream: pkg/kubelet/metrics, util
 * pod_startup_latency_tracker.
 */
import { finalize, type MonoTypeOperatorFunction } from "rxjs";
import type { Pod } from "../../core/api.ts";
import type { PodCommand } from "../../core/pod/podRegistry.ts";
import type { PodRuntimeStatus, RuntimeContainer } from "../../core/runtime/podRuntimeStatus.ts";
import { parseInstant } from "../../core/time/civilTime.ts";
import type { PodContext } from "../podContext.ts";

/** Measures one run of the worker. */
export function measureRun<T>(
  { ports }: PodContext,
  operation: "create" | "update" | "sync" | "kill",
): MonoTypeOperatorFunction<T> {
  const { clock, telemetry } = ports;
  const startedAt = clock.monotonicMs();
  return finalize(() => {
    const seconds = (clock.monotonicMs() - startedAt) / 1000;
    telemetry.metrics.observe("kubelet_pod_worker_duration_seconds", seconds, { operation_type: operation });
  });
}

/** Observes a sync without work, which takes no time. */
export function observeIdleSync({ ports }: PodContext): void {
  ports.telemetry.metrics.observe("kubelet_pod_worker_duration_seconds", 0, { operation_type: "sync" });
}

/** Observes the time from when a source first lists the pod to its first sync. */
export function observeWorkerStart({ ports }: PodContext, { metadata }: Pod): void {
  const { clock, telemetry } = ports;
  const seenAt = parseInstant(metadata.annotations?.["kubernetes.io/config.seen"]);
  if (seenAt === undefined) return;
  const seconds = Math.max(0, clock.wallTime() - seenAt) / 1000;
  telemetry.metrics.observe("kubelet_pod_worker_start_duration_seconds", seconds);
}

/** Counts containers that exited since the last inspection; exits before the first one do not count. */
export function countExits(
  context: PodContext,
  runtime: PodRuntimeStatus,
  command: PodCommand,
  isFirstLook: boolean,
): void {
  const { memory, ports } = context;
  for (const container of runtime.containers) {
    if (container.state !== "exited" || memory.start.seenExits.has(container.id)) continue;
    memory.start.seenExits.add(container.id);
    if (isFirstLook) continue;
    ports.telemetry.metrics.count("kubelet_terminated_containers_total", {
      container_type: containerTypeOf(container, command),
      exit_code: String(container.exitCode),
      reason: container.reason,
    });
  }
  if (memory.start.seenExits.size === 0) return;
  const known = new Set(runtime.containers.map(({ id }) => id));
  for (const id of memory.start.seenExits) if (!known.has(id)) memory.start.seenExits.delete(id);
}

function containerTypeOf({ name }: RuntimeContainer, { pod }: PodCommand): string {
  if (pod?.spec.initContainers?.some((container) => container.name === name) === true) return "init_container";
  if (pod?.spec.ephemeralContainers?.some((container) => container.name === name) === true)
    return "ephemeral_container";
  return "container";
}
