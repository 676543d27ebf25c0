/**
 * The cgroups around all pods: `/kubepods` with the limits of commands/nodeAmountsOf.ts (capacity less enforced
 * reservations), and one per QoS class whose CPU weight and protected memory follow its pods. Enforces the reservations
 * of system and Kubernetes first (enforceReserved.ts). Bound: one write at a time, newest wins, beside one retry of the
 * limits of `/kubepods`. Upstream: qos_container_manager_linux.go, enforceNodeAllocatableCgroups.
 */
import {
  catchError,
  concat,
  defer,
  distinctUntilChanged,
  EMPTY,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  repeat,
  switchMap,
  takeWhile,
} from "rxjs";
import type { Pod } from "../../core/api.ts";
import { toKubeletError } from "../../core/errors.ts";
import type { KubeletEvent } from "../../core/events.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { nodeEvent } from "../../core/node/nodeEvents.ts";
import { memoryQosWarning, protectedMemory } from "../../core/resources/memoryQos.ts";
import {
  type CgroupLimits,
  kubepodsCgroupName,
  printedCgroupName,
  protectedCgroups,
  qosCgroupName,
  qosCgroupResources,
} from "../../core/resources/podCgroup.ts";
import { sameValue } from "../../core/sameValue.ts";
import { conflateMap } from "../../operators/conflateMap.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { longTimer } from "../../operators/longTimer.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { NodeView } from "../../state/nodeState.ts";
import { enforceReserved } from "./enforceReserved.ts";

const ENFORCE_AGAIN_MS = 60_000;

/**
 * Keeps the cgroups while subscribed; logs a failure and retries it with the next change. Emits events: the limits of
 * all pods are enforced, or why not, which is retried each minute. Errors if a reservation cannot be enforced.
 */
export function nodeCgroups(
  ports: Pick<KubeletPorts, "cgroups" | "clock" | "machine" | "telemetry">,
  config: KubeletConfig,
  state: Pick<NodeView, "registry">,
): Observable<KubeletEvent> {
  const { cgroups, clock } = ports;
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
  const classes$ = concat(
    tolerated(() => cgroups.ensure(qosCgroupName(config, "BestEffort"), qosCgroupResources("BestEffort", []))),
    followed$,
  );
  const enforced$ = defer(() => enforceAllocatable(cgroups, config));
  const again$ = concat(longTimer(clock, ENFORCE_AGAIN_MS).pipe(ignoreElements()), enforced$).pipe(
    repeat(),
    takeWhile(({ type }) => type === "Warning", true),
  );
  return concat(
    defer(warn),
    enforceReserved(cgroups, config),
    enforced$.pipe(switchMap((event) => concat(of(event), merge(classes$, event.type === "Warning" ? again$ : EMPTY)))),
  );
}

/** Emits an event: the limits of all pods together are enforced, or the reason why not. */
function enforceAllocatable(
  cgroups: NonNullable<KubeletPorts["cgroups"]>,
  config: Pick<KubeletConfig, "nodeName" | "cgroupRoot" | "cgroupDriver" | "kubepodsLimits">,
): Observable<KubeletEvent> {
  const { nodeName, kubepodsLimits } = config;
  const name = kubepodsCgroupName(config);
  const done = nodeEvent(nodeName, "NodeAllocatableEnforced", "Updated Node Allocatable limit across pods");
  return concat(cgroups.ensure(name, kubepodsLimits).pipe(ignoreElements()), of(done)).pipe(
    catchError((thrown: unknown) => {
      const why = toKubeletError(thrown).message;
      const message = `Failed to update Node Allocatable Limits ${printedCgroupName(name)}: ${why}`;
      return of(nodeEvent(nodeName, "FailedNodeAllocatableEnforcement", message, "Warning"));
    }),
  );
}

const sameLimits = (a: ReadonlyMap<string, CgroupLimits>, b: ReadonlyMap<string, CgroupLimits>): boolean =>
  [...a].every(([name, limits]) => sameValue(limits, b.get(name)));
