/**
 * The cgroups around all pods: `/kubepods` with what pods may use together, and one per QoS class whose CPU weight
 * follows the pods in it, as does the memory that is protected for them. Bound: one write at a time, newest wins. Counterpart: qos_container_manager_linux.go.
 */
import { catchError, concat, defer, distinctUntilChanged, EMPTY, ignoreElements, map, type Observable } from "rxjs";
import type { Pod } from "../core/api.ts";
import { toKubeletError } from "../core/errors.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import { memoryQosWarning, protectedMemory } from "../core/resources/memoryQos.ts";
import {
  type CgroupLimits,
  kubepodsCgroupName,
  protectedCgroups,
  qosCgroupName,
  qosCgroupResources,
} from "../core/resources/podCgroup.ts";
import { sameValue } from "../core/sameValue.ts";
import { conflateMap } from "../operators/conflateMap.ts";
import { inSequence } from "../operators/inSequence.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { NodeState } from "../state/nodeState.ts";

/** Keeps them for as long as it is subscribed; a failure is logged and tried again with the next change. */
export function nodeCgroups(
  state: Pick<NodeState, "registry">,
  ports: Pick<KubeletPorts, "cgroups" | "machine" | "telemetry">,
  config: KubeletConfig,
): Observable<never> {
  const { cgroups } = ports;
  if (cgroups === undefined || !config.cgroupsPerQos) return EMPTY;
  const tolerated = (write: () => Observable<void>): Observable<never> =>
    defer(write).pipe(
      ignoreElements(),
      catchError((thrown: unknown) => {
        ports.telemetry.log.error("Cannot keep the cgroups of the node", { error: toKubeletError(thrown) });
        return EMPTY;
      }),
    );
  const { memoryQos } = config;
  const warn = (): Observable<never> => {
    const warning = memoryQos === undefined ? undefined : memoryQosWarning(ports.machine.kernelVersion);
    if (warning !== undefined) ports.telemetry.log.warn(warning);
    return EMPTY;
  };
  const limitsOf = (pods: readonly Pod[]): ReadonlyMap<string, CgroupLimits> => {
    const burstable = qosCgroupName(config, "Burstable");
    const limits = new Map<string, CgroupLimits>([[burstable, qosCgroupResources("Burstable", pods)]]);
    if (memoryQos === undefined) return limits;
    const held = protectedMemory(pods, memoryQos);
    for (const [name, more] of protectedCgroups(config, held)) limits.set(name, { ...limits.get(name), ...more });
    ports.telemetry.metrics.gauge("kubelet_memory_qos_node_memory_min_bytes", held.guaranteedBytes);
    ports.telemetry.metrics.gauge("kubelet_memory_qos_node_memory_low_bytes", held.burstableBytes);
    return limits;
  };
  const followed$ = state.registry.changes$.pipe(
    map(({ records }) =>
      [...records.values()].flatMap(({ allocated, state: is }) =>
        allocated !== undefined && is === "syncing" ? [allocated] : [],
      ),
    ),
    map(limitsOf),
    distinctUntilChanged(sameLimits),
    conflateMap((limits) => inSequence([...limits], ([name, wanted]) => tolerated(() => cgroups.ensure(name, wanted)))),
  );
  return concat(
    defer(warn),
    tolerated(() => cgroups.ensure(kubepodsCgroupName(config), config.kubepodsLimits)),
    tolerated(() => cgroups.ensure(qosCgroupName(config, "BestEffort"), qosCgroupResources("BestEffort", []))),
    followed$,
  );
}

const sameLimits = (a: ReadonlyMap<string, CgroupLimits>, b: ReadonlyMap<string, CgroupLimits>): boolean =>
  [...a].every(([name, limits]) => sameValue(limits, b.get(name)));
