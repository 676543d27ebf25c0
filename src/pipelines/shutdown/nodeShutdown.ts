/**
 * Ends the pods of the node in good time before the machine shuts down. A lock at the login manager delays the shutdown
 * meanwhile. Owner of the cell `shuttingDown`, which admission and the condition Ready read. Bound: one watch, one lock,
 * one shutdown. Upstream: nodeshutdown_manager_linux.go.
 */
import {
  BehaviorSubject,
  concat,
  defer,
  distinctUntilChanged,
  EMPTY,
  from,
  merge,
  type Observable,
  of,
  skipWhile,
  startWith,
  switchMap,
} from "rxjs";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { nodeEvent } from "../../core/node/nodeEvents.ts";
import { podsToStartAgain } from "../../core/shutdown/shutdownPods.ts";
import { SHUTDOWN_CANCELLED, SHUTDOWN_DETECTED, SHUTDOWN_EVENT } from "../../core/shutdown/shutdownTexts.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import { eventOutput, type PodOutput } from "../podOutputs.ts";
import { endPods } from "./endPods.ts";
import { heldLock, watchShutdowns } from "./followLogind.ts";
import type { ShutdownContext, ShutdownCells } from "./shutdownContext.ts";
import { createShutdownRecord } from "./shutdownRecord.ts";

/**
 * Emits the orders to end pods, and reports. Never errors.
 *
 *     shutdowns   f-----t-----------------f----     f, t: whether the machine is about to shut down
 *     lock        h--------------r        h----     h: held; r: released, the machine may go down
 *     outputs           E(a)-(b)-         E(s)      E: event; a, b: pods in order of priority; s: static pods again
 *     shuttingDown      t-----------------f----
 *
 * Cancels: the shutdown, when it is cancelled; pods that are being stopped stop nevertheless.
 */
export function nodeShutdown(ports: KubeletPorts, config: KubeletConfig, cells: ShutdownCells): Observable<PodOutput> {
  const { logind, telemetry } = ports;
  const { log } = telemetry;
  if (!config.endsPodsAtShutdown) {
    log.info("Node graceful shutdown feature is disabled, node shutdown will be immediate");
    return EMPTY;
  }
  if (config.shutdownPeriods.length === 0) {
    log.info("No graceful configuration specified, node shutdown will be immediate");
    return EMPTY;
  }
  if (logind === undefined) {
    log.error("Failed to start node shutdown manager", { error: "the system has no login manager" });
    return EMPTY;
  }
  log.info("Creating node shutdown manager", { shutdownGracePeriodByPodPriority: config.shutdownPeriods });
  return defer(() => follow({ ports, config, cells, record: createShutdownRecord(ports, config) }, logind));
}

function follow(context: ShutdownContext, logind: NonNullable<KubeletPorts["logind"]>): Observable<PodOutput> {
  const isLockWanted = new BehaviorSubject(false);
  const release = (): void => isLockWanted.next(false);
  const shutdowns$ = watchShutdowns(logind, context).pipe(startWith(undefined), distinctUntilChanged());
  let isDown = false;
  const outputs$ = shutdowns$.pipe(
    // Before the first answer of the login manager there is nothing to do.
    skipWhile((next) => next === undefined),
    switchMap((next) => {
      if (next === true) {
        isDown = true;
        return shutDown(context, release);
      }
      isLockWanted.next(true);
      if (!isDown) return EMPTY;
      isDown = false;
      return cancelled(context);
    }),
  );
  return merge(context.record.load(), heldLock(logind, isLockWanted, context), outputs$);
}

function shutDown(context: ShutdownContext, release: () => void): Observable<PodOutput> {
  const { ports, config, cells, record } = context;
  ports.telemetry.log.info("Shutdown manager detected new shutdown event", { event: "shutdown" });
  cells.shuttingDown.set(true);
  return concat(
    of(eventOutput(nodeEvent(config.nodeName, SHUTDOWN_EVENT, SHUTDOWN_DETECTED))),
    merge(record.begin(), endPods(context)),
    record.end(),
    defer(() => {
      ports.telemetry.log.info("Shutdown manager completed processing shutdown event, node will shutdown shortly");
      release();
      return EMPTY;
    }),
  );
}

/**
 * Differs from upstream: the cancellation takes effect at once, not only after all pods have been ended, and static pods
 * start again.
 */
function cancelled({ ports, config, cells, record }: ShutdownContext): Observable<PodOutput> {
  ports.telemetry.log.info("Shutdown manager detected new shutdown event", { event: "cancelled" });
  cells.shuttingDown.set(false);
  const { registry, podStatuses } = cells;
  const again = podsToStartAgain(registry.value, (uid) => podStatuses.get(uid));
  return concat(
    of(eventOutput(nodeEvent(config.nodeName, SHUTDOWN_EVENT, SHUTDOWN_CANCELLED))),
    from(again.map((uid): PodOutput => ({ kind: "startAgain", uid }))),
    record.end(),
  );
}
