/**
 * Unprepares the claims of a pod of which nothing runs: those without another user, one request per driver. A claim stays
 * noted until all its drivers have succeeded. Bound: one operation per claim, one request per driver. Upstream:
 * UnprepareResources of the DRA manager.
 */
import { catchError, concat, defer, ignoreElements, map, type Observable, of, switchMap, tap } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { claimsUsedBy, claimKey, withoutUser, withUsedClaims } from "../../core/dra/claimInfo.ts";
import { type DriverBatch, driverBatches, unpreparedClaims, wireClaims } from "../../core/dra/driverCalls.ts";
import { hasClaims } from "../../core/dra/podClaims.ts";
import { type KubeletError, toKubeletError } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { inParallel } from "../../operators/inParallel.ts";
import { type DraContext, driverOf, fetchClaims, keepClaims, measured } from "./draContext.ts";

/** Emits one result. Never errors. `pod` is undefined for a pod that is known only by its UID. */
export function unprepareClaims(
  context: DraContext,
  podUid: string,
  pod: Pod | undefined,
): Observable<Result<undefined>> {
  return defer(() => {
    const { table } = context;
    const isForgotten = table.isIncomplete && claimsUsedBy(table.value, podUid).length === 0;
    const found$ = isForgotten && pod !== undefined && hasClaims(pod) ? findForgotten(context, pod) : of(ok(undefined));
    return found$.pipe(
      switchMap((found) => {
        if (!found.ok) return of(found);
        const keys = claimsUsedBy(table.value, podUid);
        const unprepared$ = context.locks.run(
          keys,
          defer(() => unprepareKnown(context, keys, podUid)),
        );
        return keys.length === 0 ? unprepared$ : measured(context, "UnprepareResources", unprepared$);
      }),
      map((result) => (result.ok ? result : err(inWords(result.error)))),
    );
  });
}

const inWords = (error: KubeletError): KubeletError => ({
  ...error,
  message: `unprepare dynamic resources: ${error.message}`,
});

/**
 * Takes the claims of a pod from the API server, since the file of the claims was damaged. A claim that is gone or belongs
 * to another pod by now needs nothing.
 */
function findForgotten(context: DraContext, pod: Pod): Observable<Result<undefined>> {
  const { table } = context;
  return fetchClaims(context, pod).pipe(
    map((found): Result<undefined> => {
      const isGone = !found.ok && (found.error.code === "NotFound" || found.error.code === "Rejected");
      if (!found.ok) return isGone ? ok(undefined) : found;
      const used = withUsedClaims(table.value, found.value);
      if (used.ok) table.set(used.value);
      return ok(undefined);
    }),
  );
}

function unprepareKnown(context: DraContext, keys: readonly string[], podUid: string): Observable<Result<undefined>> {
  const { table } = context;
  const last = keys.filter((key) => table.value.get(key)?.podUids.size === 1);
  const failures: KubeletError[] = [];
  /** Claims that a driver has not unprepared. */
  const left = new Set<string>();
  const ask = (batch: DriverBatch): Observable<never> =>
    unprepareBatch(context, batch).pipe(
      tap(({ done, error }) => {
        for (const key of batch.claims.map(claimKey)) if (!done.includes(key)) left.add(key);
        if (error !== undefined) failures.push(error);
      }),
      ignoreElements(),
    );
  return concat(
    inParallel(driverBatches(table.value, last), ask),
    defer(() => {
      const free = keys.filter((key) => !left.has(key));
      if (free.length > 0) table.set(withoutUser(table.value, free, podUid));
      return keepClaims(context).pipe(
        tap((error) => failures.push(error)),
        ignoreElements(),
      );
    }),
    defer(() => of(failures[0] === undefined ? ok(undefined) : err(failures[0]))),
  );
}

type Unprepared = ReturnType<typeof unpreparedClaims>;

function unprepareBatch(context: DraContext, batch: DriverBatch): Observable<Unprepared> {
  const driver = driverOf(context, batch.driver);
  if (!driver.ok) return of({ done: [], error: driver.error });
  return driver.value.unprepare(wireClaims(batch)).pipe(
    map((answer) => unpreparedClaims(batch, answer)),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      return of<Unprepared>({ done: [], error: { ...error, message: `NodeUnprepareResources: ${error.message}` } });
    }),
  );
}
