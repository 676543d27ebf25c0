/**
 * The cgroups around all pods: `/kubepods` with the limits of commands/nodeAmountsOf.ts (capacity less enforced
 * reservations), and one per QoS class (qosCgroups.ts). Then enforces the reservations of system and Kubernetes
 * (enforceReserved.ts). Bound: one write at a time, newest wins, beside one retry of the limits of `/kubepods`.
 * Upstream: setupNode and enforceNodeAllocatableCgroups of the container manager.
 */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  ignoreElements,
  merge,
  type Observable,
  of,
  repeat,
  switchMap,
  takeWhile,
} from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import type { KubeletEvent } from "../../core/events.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { nodeEvent } from "../../core/node/nodeEvents.ts";
import { memoryQosWarning } from "../../core/resources/memoryQos.ts";
import { kubepodsCgroupName, printedCgroupName } from "../../core/resources/podCgroup.ts";
import { longTimer } from "../../operators/longTimer.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { NodeView } from "../../state/nodeState.ts";
import { enforceReserved } from "./enforceReserved.ts";
import { qosCgroups } from "./qosCgroups.ts";

const ENFORCE_AGAIN_MS = 60_000;

/**
 * Keeps the cgroups while subscribed. Emits events: the limits of all pods are enforced, or why not, which is retried
 * each minute. Errors if a reservation cannot be enforced.
 */
export function nodeCgroups(
  ports: Pick<KubeletPorts, "cgroups" | "clock" | "machine" | "telemetry">,
  config: KubeletConfig,
  state: Pick<NodeView, "registry">,
): Observable<KubeletEvent> {
  const { cgroups, clock, telemetry } = ports;
  if (cgroups === undefined || !config.cgroupsPerQos) return EMPTY;
  const warn = (): Observable<never> => {
    const warning = config.memoryQos === undefined ? undefined : memoryQosWarning(ports.machine.kernelVersion);
    if (warning !== undefined) telemetry.log.warn(warning);
    return EMPTY;
  };
  const classes$ = qosCgroups({ cgroups, clock, telemetry }, config, state);
  const enforced$ = defer(() => enforceAllocatable(cgroups, config));
  const again$ = concat(longTimer(clock, ENFORCE_AGAIN_MS).pipe(ignoreElements()), enforced$).pipe(
    repeat(),
    takeWhile(({ type }) => type === "Warning", true),
  );
  return concat(
    defer(warn),
    enforced$.pipe(
      switchMap((event) =>
        concat(of(event), enforceReserved(cgroups, config), merge(classes$, event.type === "Warning" ? again$ : EMPTY)),
      ),
    ),
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
