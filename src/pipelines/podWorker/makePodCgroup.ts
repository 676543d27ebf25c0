/**
 * The cgroup of a pod: created before its sandbox, removed after everything in it. core/resources/podCgroup.ts decides
 * its limits, podResize.ts changes them.
 */
import { defer, EMPTY, finalize, type Observable } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { podCgroupName, podCgroupResources, qosCgroupName } from "../../core/resources/podCgroup.ts";
import { podHasNoCpuQuota } from "../../core/topology/nodeHardware.ts";
import { inSequence } from "../../operators/inSequence.ts";
import type { PodContext } from "../podContext.ts";

/** Returns the configuration for the limits of the pod's cgroup, which has no CPU quota if its CPUs are its own. */
export function limitConfigOf({ config, memory }: PodContext, pod: Pod): PodContext["config"] {
  const isLifted = podHasNoCpuQuota(config.hardware, pod, memory.allocation.hardware);
  return isLifted ? { ...config, cpuCfsQuota: false } : config;
}

/** Creates the pod's cgroup with its limits. */
export function ensurePodCgroup(context: PodContext, pod: Pod): Observable<void> {
  const { ports, config } = context;
  const { cgroups } = ports;
  const limits = podCgroupResources(pod, limitConfigOf(context, pod));
  if (cgroups === undefined || !config.cgroupsPerQos) return EMPTY;
  return timedCgroup("create", ports, () => cgroups.ensure(podCgroupName(pod, config), limits));
}

/** Removes the pod's cgroup; for a pod known only from the runtime, in every QoS class. */
export function destroyPodCgroup(context: PodContext, pod: Pod | undefined): Observable<void> {
  const { ports, config, identity } = context;
  const { cgroups } = ports;
  if (cgroups === undefined || !config.cgroupsPerQos) return EMPTY;
  const names =
    pod !== undefined
      ? [podCgroupName(pod, config)]
      : (["Guaranteed", "Burstable", "BestEffort"] as const).map(
          (qos) => `${qosCgroupName(config, qos)}/pod${identity.uid}`,
        );
  return timedCgroup("destroy", ports, () => inSequence(names, (name) => cgroups.destroy(name)));
}

/** Measures an operation on a pod's cgroup. */
export function timedCgroup(
  operation: string,
  { clock, telemetry }: PodContext["ports"],
  run: () => Observable<void>,
): Observable<void> {
  return defer(() => {
    const startedAt = clock.monotonicMs();
    return run().pipe(
      finalize(() => {
        const seconds = (clock.monotonicMs() - startedAt) / 1000;
        telemetry.metrics.observe("kubelet_cgroup_manager_duration_seconds", seconds, { operation_type: operation });
      }),
    );
  });
}
