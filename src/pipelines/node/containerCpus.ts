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

/** Runs while subscribed. Never emits, never errors: a failed call is repeated in the next period. */
export function containerCpus(
  { clock, runtime, telemetry }: Ports,
  { hardware }: Pick<KubeletConfig, "hardware">,
  state: State,
): Observable<never> {
  if (hardware?.cpus === undefined) return EMPTY;
  /** CPUs that the runtime has confirmed, by container id. */
  const applied = new Map<string, string>();
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
          telemetry.log.warn("Failed to set the CPUs of a container", { containerId, cpus: cpusetCpus, error });
          return EMPTY;
        }),
      );
  const round = (): Observable<never> =>
    defer(() => {
      const wanted = wantedNow(hardware, state);
      for (const id of applied.keys()) if (!wanted.has(id)) applied.delete(id);
      const changed = [...wanted].filter(([id, cpus]) => applied.get(id) !== cpus);
      return inSequence(changed, ([id, cpus]) => apply(id, cpus)).pipe(ignoreElements());
    });
  const changes$ = derived([state.registry.changes$, state.runtimeStatuses.anyChange$], () =>
    [...wantedNow(hardware, state)].join(" "),
  );
  const again$ = pollAfter(clock, hardware.reconcilePeriodMs, () => of(undefined), { immediately: false });
  return merge(changes$, again$).pipe(conflateMap(round));
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
