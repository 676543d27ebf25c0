/**
 * Asks the metadata service of the cloud for the instance of this node: at start, each REREAD_MS, and after the addresses
 * of the machine changed. Owner of the cell `cloudInstance`, which keeps the last good answer: nothing waits for the
 * service. Bounds: one look at a time, LOOK_MS each. Upstream: cloudResourceSyncManager of pkg/kubelet/cloudresource.
 * Differs from upstream: a look each minute instead of each 10 s, and a status never waits for the first one.
 */
import { catchError, defer, EMPTY, ignoreElements, merge, NEVER, type Observable, tap } from "rxjs";
import type { CloudInstance } from "../../core/cloud/cloudInstance.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import type { MachineAddresses } from "../../core/node/nodeFacts.ts";
import { sameItems, sameValue } from "../../core/sameValue.ts";
import { type BackoffCurve, backoffDelay } from "../../operators/backoffDelay.ts";
import { deadline } from "../../operators/deadline.ts";
import { reconcile } from "../../operators/reconcile.ts";
import type { CloudMetadata } from "../../ports/cloudMetadata.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Cell, ReadonlyCell } from "../../state/cell.ts";

const REREAD_MS = 60_000;
const LOOK_MS = 10_000;
const JITTER = 0.1;
const BACKOFF: BackoffCurve = { initialMs: 1_000, maxMs: 60_000, jitter: 0.2 };
const SOURCE = "cloudMetadata";

type Ports = Pick<KubeletPorts, "clock" | "rng" | "telemetry" | "cloudMetadata">;

interface Cells {
  readonly addresses: ReadonlyCell<MachineAddresses | undefined>;
  readonly cloudInstance: Cell<CloudInstance | undefined>;
}

/** Runs while subscribed. Never emits, never errors. Without the port it does nothing. */
export const cloudInstance = (ports: Ports, cells: Cells): Observable<never> =>
  ports.cloudMetadata === undefined ? NEVER : followed(ports.cloudMetadata, ports, cells);

const followed = (service: CloudMetadata, { clock, rng, telemetry }: Ports, cells: Cells): Observable<never> =>
  defer(() => {
    const { addresses, cloudInstance: cell } = cells;
    const { log, metrics } = telemetry;
    let failures = 0;
    const succeeded = (found: CloudInstance): void => {
      if (failures > 0) log.info("The metadata service of the cloud answers again", { failures });
      failures = 0;
      metrics.gauge("rxlet_source_up", 1, { source: SOURCE });
      if (sameValue(found, cell.value)) return;
      if (!sameItems(found.problems, cell.value?.problems ?? [])) {
        log.warn("The Node lacks facts of the cloud that it cannot have", { problems: found.problems });
      }
      log.info("The cloud described the instance of the node", { before: cell.value, now: found });
      cell.set(found);
    };
    const failed = (thrown: unknown): Observable<never> => {
      const error = toKubeletError(thrown);
      failures += 1;
      metrics.gauge("rxlet_source_up", 0, { source: SOURCE });
      const stays = cell.value === undefined ? "the Node keeps its addresses" : "the last answer stays in use";
      const message = `The metadata service of the cloud does not describe this node; ${stays}`;
      // An outage may last: one line is enough.
      if (failures === 1) log.warn(message, { error });
      else log.debug("syncCloudInstance", message, { error, failures });
      return EMPTY;
    };
    const look = (): Observable<CloudInstance> =>
      service.instance().pipe(
        deadline(LOOK_MS, clock, () => kubeletError("DeadlineExceeded", `no answer within ${LOOK_MS} ms`)),
        tap(succeeded),
        catchError(failed),
      );
    const wakeAfterMs = (): number =>
      failures > 0 ? backoffDelay(BACKOFF, failures, rng) : Math.round(REREAD_MS * (1 + JITTER * rng.next()));
    return reconcile({
      triggers$: merge(addresses.changes$, NEVER),
      run: look,
      wakeAfterMs,
      clock,
    }).pipe(ignoreElements());
  });
