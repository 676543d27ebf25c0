/**
 * The cgroups of the QoS classes: their limits follow the active pods, and are checked each minute and whenever a pod
 * comes or goes, because other programs may change them. Bound: one write at a time, newest wins. Upstream:
 * qos_container_manager_linux.go.
 */
import {
  catchError,
  defer,
  distinctUntilChanged,
  EMPTY,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  switchMap,
  tap,
} from "rxjs";
import type { Pod } from "../../core/api.ts";
import { toKubeletError } from "../../core/errors.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { protectedMemory } from "../../core/resources/memoryQos.ts";
import type { CgroupLimits } from "../../core/resources/podCgroup.ts";
import { qosCgroupLimits } from "../../core/resources/qosCgroups.ts";
import { sameValue } from "../../core/sameValue.ts";
import { conflateMap } from "../../operators/conflateMap.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import type { CgroupDrift, Cgroups } from "../../ports/cgroup.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { NodeView } from "../../state/nodeState.ts";

/** Upstream: periodicQOSCgroupUpdateInterval. */
const CHECK_PERIOD_MS = 60_000;

type Config = Pick<KubeletConfig, "cgroupRoot" | "memoryQos" | "qosReserved">;
type Ports = Pick<KubeletPorts, "clock" | "telemetry"> & { readonly cgroups: Cgroups };
type State = Pick<NodeView, "registry">;

/** Keeps the cgroups while subscribed; logs a failure and retries it with the next check. */
export const qosCgroups = (ports: Ports, config: Config, { registry }: State): Observable<never> =>
  defer(() => {
    const keep = cgroupKeeper(ports);
    const { metrics } = ports.telemetry;
    const changed$ = registry.changes$.pipe(map(activePods), distinctUntilChanged(samePods));
    const due$ = pollAfter(ports.clock, CHECK_PERIOD_MS, () => of(activePods(registry.value)), { immediately: false });
    return merge(changed$, due$).pipe(
      conflateMap((pods) => {
        const { memoryQos } = config;
        if (memoryQos !== undefined) {
          const { guaranteedBytes, burstableBytes } = protectedMemory(pods, memoryQos);
          metrics.gauge("kubelet_memory_qos_node_memory_min_bytes", guaranteedBytes);
          metrics.gauge("kubelet_memory_qos_node_memory_low_bytes", burstableBytes);
        }
        return inSequence([...qosCgroupLimits(config, pods)], ([name, limits]) => keep(name, limits));
      }),
    );
  });

const activePods = ({ records }: State["registry"]["value"]): readonly Pod[] =>
  [...records.values()].flatMap(({ allocated, state }) =>
    allocated !== undefined && state === "syncing" ? [allocated] : [],
  );

/** Limits follow from the specs alone: a written status makes another object with the same spec. */
const samePods = (a: readonly Pod[], b: readonly Pod[]): boolean =>
  a.length === b.length && a.every(({ spec }, index) => spec === b[index]?.spec);

/**
 * Returns a function that makes the kernel have these limits. Limits that it wrote before are compared with those of
 * the kernel, so that a change by another program is logged, once.
 */
function cgroupKeeper({ cgroups, telemetry }: Ports): (name: string, limits: CgroupLimits) => Observable<never> {
  const { log } = telemetry;
  const written = new Map<string, CgroupLimits>();
  const reported = new Map<string, readonly CgroupDrift[]>();
  const report = (name: string, drifts: readonly CgroupDrift[]): void => {
    const before = reported.get(name) ?? [];
    reported.set(name, drifts);
    for (const drift of drifts) {
      // A value that the kernel does not keep differs at every check.
      if (before.some((other) => sameValue(other, drift))) continue;
      log.warn("Another program changed a cgroup of the node: set it back", { cgroup: name, ...drift });
    }
  };
  const write = (name: string, limits: CgroupLimits): Observable<unknown> => {
    if (sameValue(written.get(name), limits)) {
      return cgroups.correct(name, limits).pipe(tap((drifts) => report(name, drifts)));
    }
    return limits.memoryLimitBytes === 0
      ? holdMemory(cgroups, name, limits)
      : cgroups.ensure(name, limits).pipe(tap({ complete: () => void written.set(name, limits) }));
  };
  return (name, limits) =>
    defer(() => write(name, limits)).pipe(
      catchError((thrown: unknown) => {
        written.delete(name);
        if (limits.memoryLimitBytes === undefined) throw thrown;
        return holdMemory(cgroups, name, limits);
      }),
      ignoreElements(),
      catchError((thrown: unknown) => {
        log.error("Cannot keep the cgroups of the node", { error: toKubeletError(thrown) });
        return EMPTY;
      }),
    );
}

/**
 * Limits the memory to the present usage where that exceeds the limit, which the kernel then refuses. The next check
 * tries the limit itself again. Upstream: retrySetMemoryReserve.
 */
const holdMemory = (cgroups: Cgroups, name: string, limits: CgroupLimits): Observable<unknown> =>
  cgroups.memoryUsage(name).pipe(
    switchMap((usedBytes) => {
      const memoryLimitBytes = Math.max(usedBytes, limits.memoryLimitBytes ?? 0);
      const { memoryLimitBytes: _, ...others } = limits;
      // No process could enter a cgroup with a limit of 0.
      return cgroups.ensure(name, memoryLimitBytes === 0 ? others : { ...others, memoryLimitBytes });
    }),
  );
