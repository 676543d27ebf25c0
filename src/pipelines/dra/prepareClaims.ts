/**
 * Prepares the claims of a pod: reads and checks them, notes the pod as their user on disk, and asks each driver once for
 * all its claims. A driver may be asked again for a claim that it has prepared. Bound: one operation per claim, one
 * request per driver. Cancels: the requests; the note stays, so that the claims are unprepared when the pod ends.
 * Upstream: PrepareResources of the DRA manager.
 */
import { catchError, concat, defer, EMPTY, ignoreElements, map, type Observable, of, switchMap, tap } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { arePrepared, type ClaimInfo, withDevices, withPrepared, withUsedClaims } from "../../core/dra/claimInfo.ts";
import { type DriverBatch, driverBatches, preparedDevices, wireClaims } from "../../core/dra/driverCalls.ts";
import { podClaims } from "../../core/dra/podClaims.ts";
import { type KubeletError, toKubeletError } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { inParallel } from "../../operators/inParallel.ts";
import { claimKeys, type DraContext, driverOf, fetchClaims, keepClaims, measured } from "./draContext.ts";

const DONE: Result<undefined> = ok(undefined);

/** Emits one result. Never errors. */
export function prepareClaims(context: DraContext, pod: Pod): Observable<Result<undefined>> {
  return defer(() => {
    const claims = podClaims(pod, context.withExtendedResources);
    if (!claims.ok) return of(claims);
    const keys = claimKeys(pod, claims.value);
    if (keys.length === 0) return of(DONE);
    const { uid } = pod.metadata;
    const prepared$ = defer(() => {
      // Differs from upstream: a pod that has its devices gets a new sandbox while its driver restarts.
      if (arePrepared(context.table.value, keys, uid)) return of(DONE);
      return fetchClaims(context, pod).pipe(
        switchMap((found) => (found.ok ? prepareFetched(context, keys, found.value) : of(found))),
      );
    });
    return measured(context, "PrepareResources", context.locks.run(keys, prepared$));
  }).pipe(map((result) => (result.ok ? result : err(inWords(result.error)))));
}

const inWords = (error: KubeletError): KubeletError => ({
  ...error,
  message: `prepare dynamic resources: ${error.message}`,
});

function prepareFetched(
  context: DraContext,
  keys: readonly string[],
  found: readonly ClaimInfo[],
): Observable<Result<undefined>> {
  const { table } = context;
  // A pod whose driver was never there can be deleted without it: nothing of it is noted.
  for (const { drivers } of found) {
    for (const name of drivers.keys()) {
      const driver = driverOf(context, name);
      if (!driver.ok) return of(driver);
    }
  }
  const used = withUsedClaims(table.value, found);
  if (!used.ok) return of(used);
  table.set(used.value);
  const open = keys.filter((key) => used.value.get(key)?.isPrepared === false);
  const failures: KubeletError[] = [];
  const note = tap<KubeletError>((error) => failures.push(error));
  const unlessFailed = (next: () => Observable<KubeletError>): Observable<never> =>
    defer(() => (failures.length > 0 ? EMPTY : next().pipe(note, ignoreElements())));
  return concat(
    unlessFailed(() => keepClaims(context)),
    unlessFailed(() => inParallel(driverBatches(table.value, open), (batch) => prepareBatch(context, batch))),
    unlessFailed(() => {
      if (open.length > 0) table.set(withPrepared(table.value, open));
      return keepClaims(context);
    }),
    defer(() => of(failures[0] === undefined ? DONE : err(failures[0]))),
  );
}

/** Emits the failure of the request. */
function prepareBatch(context: DraContext, batch: DriverBatch): Observable<KubeletError> {
  const { table } = context;
  const driver = driverOf(context, batch.driver);
  if (!driver.ok) return of(driver.error);
  return driver.value.prepare(wireClaims(batch)).pipe(
    map((answer) => preparedDevices(batch, answer)),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      return of(err({ ...error, message: `NodePrepareResources: ${error.message}` }));
    }),
    switchMap((devices) => {
      if (!devices.ok) return of(devices.error);
      table.set(withDevices(table.value, batch.driver, devices.value));
      return EMPTY;
    }),
  );
}
