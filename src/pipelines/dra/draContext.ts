/** Parts that preparing and unpreparing claims share. */
import { catchError, concat, defer, EMPTY, ignoreElements, map, type Observable, of, tap } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { claimKey, type ClaimInfo, type ResourceClaim, usableClaim } from "../../core/dra/claimInfo.ts";
import { type PodClaim, podClaims } from "../../core/dra/podClaims.ts";
import { kubeletError, type KubeletError, toKubeletError } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { createSemaphore, type Semaphore } from "../../operators/semaphore.ts";
import type { Call } from "../../ports/call.ts";
import type { DraDriver, DraDriverMap } from "../../ports/draDrivers.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { ReadonlyCell } from "../../state/cell.ts";
import type { ClaimTable } from "./claimTable.ts";

export interface DraContext {
  readonly ports: Pick<KubeletPorts, "api" | "clock" | "telemetry">;
  readonly table: ClaimTable;
  readonly drivers: ReadonlyCell<DraDriverMap>;
  readonly locks: ClaimLocks;
  /** The gate DRAExtendedResource. */
  readonly withExtendedResources: boolean;
}

/** Admits one operation per claim: no driver is asked to prepare and to unprepare a claim at the same time. */
export interface ClaimLocks {
  /** Runs the call once no other holds one of the claims. */
  run<T>(keys: readonly string[], call: Call<T>): Call<T>;
}

/** Creates the locks; a claim has one only while it is used. */
export function createClaimLocks(): ClaimLocks {
  const locks = new Map<string, Semaphore>();
  const locked = <T>(key: string, call: Call<T>): Call<T> =>
    defer(() => {
      const lock = locks.get(key) ?? createSemaphore(1);
      locks.set(key, lock);
      const forget = (): void => {
        if (lock.running + lock.waiting === 0 && locks.get(key) === lock) locks.delete(key);
      };
      return lock.run(call).pipe(tap({ finalize: forget }));
    });
  return {
    // All callers take locks in the same order, so that no two wait for each other.
    run: (keys, call) => [...new Set(keys)].sort().reduceRight((inner, key) => locked(key, inner), call),
  };
}

/** Returns the keys of these claims of the pod. */
export const claimKeys = ({ metadata: { namespace } }: Pod, claims: readonly PodClaim[]): readonly string[] => [
  ...new Set(claims.map(({ claimName }) => claimKey({ namespace, name: claimName }))),
];

/** Returns the driver. Errors: it has not registered, with upstream's text. */
export function driverOf({ drivers }: DraContext, name: string): Result<DraDriver> {
  const driver = drivers.value.get(name);
  return driver === undefined ? err(kubeletError("Unavailable", `DRA driver ${name} is not registered`)) : ok(driver);
}

/** Reads the pod's claims from the API server, one by one, and checks each. Ends with the first that is not usable. */
export function fetchClaims(context: DraContext, pod: Pod): Observable<Result<readonly ClaimInfo[]>> {
  return defer(() => {
    const claims = podClaims(pod, context.withExtendedResources);
    if (!claims.ok) return of(claims);
    const found: ClaimInfo[] = [];
    const failures: KubeletError[] = [];
    const fetch = (claim: PodClaim): Observable<never> =>
      fetchClaim(context, pod, claim).pipe(
        tap((fetched) => void (fetched.ok ? found.push(fetched.value) : failures.push(fetched.error))),
        ignoreElements(),
      );
    return concat(
      inSequence(claims.value, (claim) => (failures.length > 0 ? EMPTY : fetch(claim))),
      defer(() => of(failures[0] === undefined ? ok(found) : err(failures[0]))),
    );
  });
}

function fetchClaim({ ports: { api } }: DraContext, pod: Pod, claim: PodClaim): Observable<Result<ClaimInfo>> {
  const { namespace } = pod.metadata;
  const { claimName: name } = claim;
  const failed = (error: KubeletError): Result<never> =>
    err({ ...error, message: `fetch ResourceClaim ${name}: ${error.message}` });
  if (api === undefined) return of(failed(kubeletError("Unavailable", "there is no API server")));
  return api.objects.get("resourceclaims", { namespace, name }).pipe(
    map((object: ResourceClaim) => usableClaim(pod, claim, object)),
    catchError((thrown: unknown) => of(failed(toKubeletError(thrown)))),
  );
}

/** Writes the table to disk; emits the failure. */
export const keepClaims = ({ table }: DraContext): Observable<KubeletError> =>
  table.keep().pipe(
    ignoreElements(),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      return of({ ...error, message: `checkpoint ResourceClaim state: ${error.message}` });
    }),
  );

/** Measures an operation of one pod, whatever its end. */
export function measured(
  { ports: { clock, telemetry } }: DraContext,
  operation: "PrepareResources" | "UnprepareResources",
  result$: Observable<Result<undefined>>,
): Observable<Result<undefined>> {
  return defer(() => {
    const startedAt = clock.monotonicMs();
    return result$.pipe(
      tap((result) =>
        telemetry.metrics.observe("dra_operations_duration_seconds", (clock.monotonicMs() - startedAt) / 1_000, {
          operation_name: operation,
          is_error: String(!result.ok),
        }),
      ),
    );
  });
}
