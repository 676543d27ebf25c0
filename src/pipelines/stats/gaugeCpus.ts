/** Gauges of the CPUs that containers have for themselves. Upstream: the gauges of cpumanager's policy_static.go. */
import { freeCpus } from "../../core/cpu/cpuPolicy.ts";
import { placesOf } from "../../core/cpu/cpuTopology.ts";
import type { Registry } from "../../core/pod/podRegistryTypes.ts";
import { exclusiveCpusOf, type NodeHardware } from "../../core/topology/nodeHardware.ts";
import type { Metrics } from "../../ports/telemetry.ts";

/** Sets the gauges; nodes without such CPUs have 0. */
export function gaugeCpus({ cpus }: NodeHardware, registry: Registry, metrics: Metrics): void {
  if (cpus === undefined) return;
  const exclusive = exclusiveCpusOf(registry);
  metrics.gauge("kubelet_cpu_manager_exclusive_cpu_allocation_count", exclusive.length);
  metrics.gauge("kubelet_cpu_manager_shared_pool_size_millicores", freeCpus(cpus, exclusive).length * 1_000);
  const places = placesOf(cpus.topology, exclusive);
  for (const node of cpus.topology.nodes) {
    const count = places.filter((place) => place.node === node).length;
    metrics.gauge("kubelet_cpu_manager_allocation_per_numa", count, { numa_node: String(node) });
  }
}
