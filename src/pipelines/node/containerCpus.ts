/**
 * Keeps running containers on their CPUs: those of their own, or those that no container has for itself. As soon as a pod
 * gets CPUs, all others leave them. Writes no cell. Bound: a call per running container at a time, an entry each.
 * Upstream: reconcileState of pkg/kubelet/cm/cpumanager/cpu_manager.go, which looks every 10 s.
 */
import { catchError, defer, EMPTY, ignoreElements, merge, type Observable, of, tap } from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { type NodeHardware, wantedCpus } from "../../core/topology/nodeHardware.ts";
import { LinuxContainerResources } from "../../gen/cri.ts";
import { conflateMap } from "../../operators/conflateMap.ts";
import { derived } from "../../operators/derived.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { NodeView } from "../../state/nodeState.ts";

type Ports = Pick<KubeletPorts, "clock" | "runtime" | "telemetry">;
type State = Pick<NodeView, "registry" | "runtimeStatuses">;

/** Period of repeating the calls for containers of which one failed: it may have taken effect late. */
const AUDIT_MS = 5 * 60_000;

/** Runs while subscribed. Never emits, never errors: a failed call is repeated in the next period. */
export function containerCpus(
  { clock, runtime, telemetry }: Ports,
  { hardware }: Pick<KubeletConfig, "hardware">,
  state: State,
): Observable<never> {
  if (hardware?.cpus === undefined) return EMPTY;
  /** CPUs that the runtime has confirmed, by container id. */
  const applied = new Map<string, string>();
  /** Containers of failed calls, each of which may still take effect after later ones. */
  const unsure = new Set<string>();
  const apply = (containerId: string, cpusetCpus: string): Observable<unknown> =>
    runtime
      .updateContainerResources({
        containerId,
        linux: LinuxContainerResources.fromPartial({ cpusetCpus }),
        windows: undefined,
        annotations: {},
      })
      .pipe(
        tap({ complete: () => applied.set(containerId, cpusetCpus) }),
        catchError((thrown: unknown) => {
          const error = toKubeletError(thrown);
          unsure.add(containerId);
          telemetry.log.warn("Failed to set the CPUs of a container", { containerId, cpus: cpusetCpus, error });
          return EMPTY;
        }),
      );
  /** Calls before this one may have taken long: the CPUs of now count. */
  const move = (id: string): Observable<unknown> =>
    defer(() => {
      const cpus = wantedNow(hardware, state).get(id);
      return cpus === undefined || cpus === applied.get(id) ? EMPTY : apply(id, cpus);
    });
  const round = (): Observable<never> =>
    defer(() => {
      const wanted = wantedNow(hardware, state);
      for (const id of applied.keys()) if (!wanted.has(id)) applied.delete(id);
      for (const id of unsure) if (!wanted.has(id)) unsure.delete(id);
      const changed = [...wanted].filter(([id, cpus]) => applied.get(id) !== cpus);
      return inSequence(changed, ([id]) => move(id)).pipe(ignoreElements());
    });
  const changes$ = derived([state.registry.changes$, state.runtimeStatuses.anyChange$], () =>
    [...wantedNow(hardware, state)].join(" "),
  );
  const again$ = pollAfter(clock, hardware.reconcilePeriodMs, () => of(undefined), { immediately: false });
  const audit$ = pollAfter(clock, AUDIT_MS, () => of(undefined), { immediately: false }).pipe(
    tap(() => {
      for (const id of unsure) applied.delete(id);
    }),
  );
  return merge(changes$, again$, audit$).pipe(conflateMap(round));
}

const wantedNow = (hardware: NodeHardware, { registry, runtimeStatuses }: State): ReadonlyMap<string, string> =>
  wantedCpus(
    hardware,
    registry.value,
    runtimeStatuses.keys().flatMap((uid) => {
      const status = runtimeStatuses.get(uid);
      return status === undefined ? [] : [[uid, status] as const];
    }),
  );
