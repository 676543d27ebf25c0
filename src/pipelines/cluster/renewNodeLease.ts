/**
 * Renews the lease of the node each quarter of its duration, and retries at once after an error (ATTEMPTS). State: the
 * lease of the last response, in one subscription. Bound: one request at a time. Upstream: component-helpers' lease
 * controller.
 */
import {
  catchError,
  defer,
  distinctUntilChanged,
  EMPTY,
  ignoreElements,
  map,
  type Observable,
  of,
  retry,
  switchMap,
  tap,
} from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import { LEASE_NAMESPACE, type Lease, type LeaseHolder, renewedLease } from "../../core/node/nodeLease.ts";
import type { Node } from "../../core/api.ts";
import type { BackoffCurve } from "../../operators/backoffDelay.ts";
import { reconcile } from "../../operators/reconcile.ts";
import { retryWithBackoff } from "../../operators/retryWithBackoff.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { ReadonlyCell } from "../../state/cell.ts";

export interface LeaseWriter extends Pick<KubeletPorts, "clock" | "rng" | "telemetry"> {
  readonly api: Pick<ApiServer, "get" | "create" | "update">;
  /** Deadline of every request, in milliseconds. */
  readonly deadlineMs: number;
  readonly nodeName: string;
  readonly durationSeconds: number;
  /** Owner of the lease; asked for while it is unknown, because a watch may be in a pause after the server's return. */
  readonly node: ReadonlyCell<Node | undefined>;
}

const MS_PER_SECOND = 1_000;
/** Renewal interval as a fraction of the lease duration. */
const RENEW_FRACTION = 0.25;
/** Maximum delay of a renewal beyond its period, as a fraction of the period. */
const JITTER = 0.04;
const ATTEMPTS = 5;
const BACKOFF: BackoffCurve = { initialMs: 200, maxMs: 7_000 };

/** Renews from its subscription on. Never emits, errors or completes. */
export function nodeLease(writer: LeaseWriter): Observable<never> {
  const { clock, rng, durationSeconds, node } = writer;
  const periodMs = durationSeconds * MS_PER_SECOND * RENEW_FRACTION;
  return defer(() => {
    const kept: { lease: Lease | undefined } = { lease: undefined };
    return reconcile({
      triggers$: node.changes$.pipe(
        map((known) => known?.metadata?.uid),
        distinctUntilChanged(),
      ),
      run: () => renewOrMake(writer, kept),
      wakeAfterMs: () => Math.round(periodMs * (1 + JITTER * rng.next())),
      clock,
    }).pipe(ignoreElements());
  });
}

/** Renews the last known lease without reading it first; reads it after a failure, and creates a missing one. */
function renewOrMake(writer: LeaseWriter, kept: { lease: Lease | undefined }): Observable<unknown> {
  const { log } = writer.telemetry;
  const keep = tap((lease: Lease | undefined) => {
    kept.lease = lease;
  });
  const ensured$ = ensureLease(writer).pipe(
    switchMap(({ lease, isNew }) => (lease === undefined || isNew ? of(lease) : renew(writer, lease))),
    keep,
    catchError((thrown: unknown) => {
      log.error("Failed to update lease", { error: toKubeletError(thrown) });
      return EMPTY;
    }),
  );
  const { lease } = kept;
  if (lease === undefined) return ensured$;
  return renew(writer, lease).pipe(
    keep,
    catchError((thrown: unknown) => {
      log.info("Failed to update lease using latest lease, fallback to ensure lease", {
        error: toKubeletError(thrown),
      });
      return ensured$;
    }),
  );
}

interface EnsuredLease {
  /** undefined while neither the lease nor the Node exists. */
  readonly lease: Lease | undefined;
  readonly isNew: boolean;
}

/** Reads the lease, or creates a missing one; retries with BACKOFF. */
function ensureLease(writer: LeaseWriter): Observable<EnsuredLease> {
  const { api, clock, telemetry, nodeName, deadlineMs } = writer;
  const ref = { namespace: LEASE_NAMESPACE, name: nodeName };
  return defer(() => api.get("leases", ref, { deadlineMs })).pipe(
    map((lease): EnsuredLease => ({ lease, isNew: false })),
    catchError((thrown: unknown): Observable<EnsuredLease> => {
      const error = toKubeletError(thrown);
      if (error.code !== "NotFound") throw error;
      return ownerUid(writer).pipe(
        switchMap((nodeUid) => {
          if (nodeUid === undefined) return of({ lease: undefined, isNew: false });
          const made = renewedLease(undefined, { ...holderOf(writer), nodeUid }, clock.wallTime());
          return api.create("leases", made, { deadlineMs }).pipe(map((lease) => ({ lease, isNew: true })));
        }),
      );
    }),
    retryWithBackoff(BACKOFF, writer, (failure) =>
      telemetry.log.error("Failed to ensure lease exists, will retry", { ...failure }),
    ),
  );
}

/** Emits undefined while the Node does not exist or cannot be read: the next period asks again, as upstream. */
function ownerUid({ api, telemetry, deadlineMs, nodeName, node }: LeaseWriter): Observable<string | undefined> {
  const known = node.value?.metadata?.uid;
  if (known !== undefined) return of(known);
  return api.get("nodes", { name: nodeName }, { deadlineMs }).pipe(
    map(({ metadata }) => metadata?.uid),
    catchError((thrown: unknown) => {
      telemetry.log.error("Failed to get node when trying to set owner ref to the node lease", {
        node: nodeName,
        error: toKubeletError(thrown),
      });
      return of(undefined);
    }),
  );
}

/** Renews the lease, in up to ATTEMPTS tries without a pause; reads the lease again after a conflict. */
function renew(writer: LeaseWriter, lease: Lease): Observable<Lease> {
  const { api, clock, telemetry, deadlineMs } = writer;
  let base = lease;
  return defer(() => api.update("leases", renewedLease(base, holderOf(writer), clock.wallTime()), { deadlineMs })).pipe(
    retry({
      count: ATTEMPTS - 1,
      delay: (thrown: unknown) => {
        const error = toKubeletError(thrown);
        telemetry.log.error("Failed to update lease", { error });
        if (error.code !== "Conflict") return of(undefined);
        return ensureLease(writer).pipe(
          tap(({ lease: fresh }) => {
            base = fresh ?? base;
          }),
        );
      },
    }),
  );
}

const holderOf = ({ nodeName, durationSeconds, node }: LeaseWriter): LeaseHolder => ({
  nodeName,
  nodeUid: node.value?.metadata?.uid,
  durationSeconds,
});
