/**
 * Polls the addresses of the machine and writes the cell `addresses`: the status of the Node and the host addresses
 * of pods follow it. Bound: one poll at a time, `nodeStatusUpdateFrequency` after the last one. Upstream: NodeAddress
 * of pkg/kubelet/nodestatus/setters.go, which runs at each status update.
 */
import { catchError, distinctUntilChanged, EMPTY, ignoreElements, type Observable, tap } from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { withoutLinkLocal } from "../../core/node/nodeAddresses.ts";
import type { MachineAddresses } from "../../core/node/nodeFacts.ts";
import { sameValue } from "../../core/sameValue.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Cell } from "../../state/cell.ts";

/** Runs while subscribed. Never emits, never errors. */
export function hostAddresses(
  { clock, hostUsage, machine, telemetry }: Pick<KubeletPorts, "clock" | "hostUsage" | "machine" | "telemetry">,
  { node }: Pick<KubeletConfig, "node">,
  addresses: Cell<MachineAddresses | undefined>,
): Observable<never> {
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
  return pollAfter(clock, node.statusUpdatePeriodMs, look, { immediately: false }).pipe(
    distinctUntilChanged<MachineAddresses>(sameValue),
    tap(compare),
    ignoreElements(),
  );
}
