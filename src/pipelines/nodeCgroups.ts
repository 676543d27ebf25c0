/**
 * The cgroups around all pods: `/kubepods` with what pods may use together, and one per QoS class whose CPU weight
 * follows the pods in it. Bound: one write at a time, newest wins. Counterpart: qos_container_manager_linux.go.
 */
import { catchError, concat, defer, distinctUntilChanged, EMPTY, ignoreElements, map, type Observable } from "rxjs";
import type { Pod } from "../core/api.ts";
import { toKubeletError } from "../core/errors.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import { kubepodsCgroupName, qosCgroupName, qosCgroupResources } from "../core/resources/podCgroup.ts";
import { conflateMap } from "../operators/conflateMap.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { NodeState } from "../state/nodeState.ts";

/** Keeps them for as long as it is subscribed; a failure is logged and tried again with the next change. */
export function nodeCgroups(
  state: Pick<NodeState, "registry">,
  ports: Pick<KubeletPorts, "cgroups" | "telemetry">,
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
  const burstable = (pods: readonly Pod[]): Observable<never> =>
    tolerated(() => cgroups.ensure(qosCgroupName(config, "Burstable"), qosCgroupResources("Burstable", pods)));
  const followed$ = state.registry.changes$.pipe(
    map(({ records }) =>
      [...records.values()].flatMap(({ allocated, state: is }) =>
        allocated !== undefined && is === "syncing" ? [allocated] : [],
      ),
    ),
    map((pods) => ({ pods, shares: qosCgroupResources("Burstable", pods).cpuShares })),
    distinctUntilChanged((a, b) => a.shares === b.shares),
    conflateMap(({ pods }) => burstable(pods)),
  );
  return concat(
    tolerated(() => cgroups.ensure(kubepodsCgroupName(config), config.kubepodsLimits)),
    tolerated(() => cgroups.ensure(qosCgroupName(config, "BestEffort"), qosCgroupResources("BestEffort", []))),
    followed$,
  );
}
