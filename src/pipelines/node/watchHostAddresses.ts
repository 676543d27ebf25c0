/**
 * Reads the addresses of the machine after the kernel reports a change, and writes the cell `addresses`: the status of the
 * Node and the host addresses of pods follow it. Without reports it reads them each `nodeStatusUpdateFrequency`, with
 * reports each REREAD_MS, since the name of the node may resolve to others. Bounds: one read at a time, one per second.
 * Upstream: NodeAddress of pkg/kubelet/nodestatus/setters.go, which runs at each status update.
 */
import {
  auditTime,
  catchError,
  distinctUntilChanged,
  EMPTY,
  ignoreElements,
  merge,
  NEVER,
  type Observable,
  tap,
} from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { withoutLinkLocal } from "../../core/node/nodeAddresses.ts";
import type { MachineAddresses } from "../../core/node/nodeFacts.ts";
import { sameValue } from "../../core/sameValue.ts";
import { longTimer } from "../../operators/longTimer.ts";
import { reconcile } from "../../operators/reconcile.ts";
import { supervise } from "../../operators/supervise.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Cell } from "../../state/cell.ts";

const REREAD_MS = 60_000;
/** An interface comes up with several addresses and routes. */
const GATHER_MS = 1_000;
const BACKOFF = { initialMs: 1_000, maxMs: 10 * 60_000, jitter: 0.1, resetAfterMs: 60_000 };

type Ports = Pick<KubeletPorts, "clock" | "rng" | "hostUsage" | "machine" | "telemetry" | "networkChanges">;

/** Runs while subscribed. Never emits, never errors. */
export function hostAddresses(
  ports: Ports,
  { node }: Pick<KubeletConfig, "node">,
  addresses: Cell<MachineAddresses | undefined>,
): Observable<never> {
  const { clock, hostUsage, machine, telemetry } = ports;
  let areReported = false;
  const reports$ = reportedChanges(ports, (are) => (areReported = are));
  const periodMs = (): number => Math.max(areReported ? REREAD_MS : 0, node.statusUpdatePeriodMs);
  const compare = (found: MachineAddresses): void => {
    const { ips, interfaceIps, nameIps } = addresses.value ?? machine;
    // Without any interface the node keeps its addresses: the loopback address would be wrong, too.
    const now = withoutLinkLocal(found.ips.length === 0 ? { ...found, ips } : found);
    if (sameValue(now, withoutLinkLocal({ ips, interfaceIps, nameIps }))) return;
    // Pods' interfaces come and go.
    const message = "Addresses of the machine changed";
    const fields = { before: ips, now: now.ips, interfaces: now.interfaceIps };
    if (sameValue(now.ips, ips)) telemetry.log.debug("watchHostAddresses", message, fields);
    else telemetry.log.info(message, fields);
    addresses.set(now);
  };
  const look = (): Observable<MachineAddresses> =>
    hostUsage.addresses().pipe(
      catchError((thrown: unknown) => {
        telemetry.log.error("Cannot tell the addresses of the machine", { error: toKubeletError(thrown) });
        return EMPTY;
      }),
    );
  // Most answers equal the one before, and comparing costs: each address is parsed.
  return reconcile({
    triggers$: merge(longTimer(clock, node.statusUpdatePeriodMs), reports$, NEVER),
    run: look,
    wakeAfterMs: periodMs,
    clock,
  }).pipe(distinctUntilChanged<MachineAddresses>(sameValue), tap(compare), ignoreElements());
}

/** Emits some time after changes; `onReports` learns whether the system reports them. Never errors. */
function reportedChanges(
  { clock, rng, telemetry, networkChanges }: Ports,
  onReports: (are: boolean) => void,
): Observable<unknown> {
  if (networkChanges === undefined) return EMPTY;
  let said: string | undefined;
  return supervise("address changes", () => networkChanges.addresses$.pipe(tap(() => onReports(true))), {
    ...{ backoff: BACKOFF, clock, rng },
    onRestart({ error }) {
      onReports(false);
      if (error.message !== said)
        telemetry.log.debug("watchHostAddresses", "Cannot watch the addresses of the machine", { error });
      said = error.message;
    },
  }).pipe(auditTime(GATHER_MS, clock.scheduler));
}
