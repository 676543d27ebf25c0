/**
 * Looks up the claims of a pod at the API server, one request per object, until each is bound. Stateless. Bound: one
 * request per claim; failures wait 500 ms doubling to 2 min 2 s.
 */
import { catchError, defer, filter, map, type Observable, of, switchMap, takeWhile } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { boundVolumeName, type ClaimReference, originOf } from "../../core/volume/volumeClaim.ts";
import type { VolumeOrigin } from "../../core/volume/volumeLayout.ts";
import { retryDelayMs } from "../../core/volume/volumePlan.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import type { Clock } from "../../ports/clock.ts";

export interface VolumeClaimsDeps {
  /** Undefined on a standalone node. */
  readonly api: Pick<ApiServer, "get"> | undefined;
  readonly clock: Clock;
  /** Time between two looks at the size of a volume. */
  readonly syncPeriodMs: number;
}

/**
 * Emits the result of each attempt until the volume is found, then each new size of it. Nodes may not watch claims, so the
 * size is looked up again, like upstream. Never errors.
 */
export function followClaim(
  pod: Pod,
  reference: ClaimReference,
  { api, clock, syncPeriodMs }: VolumeClaimsDeps,
): Observable<Result<VolumeOrigin>> {
  let failures = 0;
  let known: VolumeOrigin | undefined;
  const look = (): Observable<Result<VolumeOrigin>> =>
    lookUp(pod, reference, api).pipe(
      map((found) => {
        if (found.ok) return found;
        failures += 1;
        const { namespace } = pod.metadata;
        const message = `error processing PVC ${namespace}/${reference.claimName}: ${found.error.message}`;
        return err({ ...found.error, message });
      }),
    );
  return defer(() =>
    pollAfter(clock, () => (known === undefined ? retryDelayMs(failures) : syncPeriodMs), look).pipe(
      // A volume that was found stays as it is, but for its size.
      map((found) => {
        const isNews = known === undefined || (found.ok && found.value.capacity?.size !== known.capacity?.size);
        if (!isNews) return undefined;
        if (!found.ok) return found;
        known = { ...(known ?? found.value), ...(found.value.capacity && { capacity: found.value.capacity }) };
        return ok(known);
      }),
      filter((found) => found !== undefined),
      takeWhile((found) => !found.ok || found.value.capacity !== undefined, true),
    ),
  );
}

function lookUp(pod: Pod, reference: ClaimReference, api: VolumeClaimsDeps["api"]): Observable<Result<VolumeOrigin>> {
  const { namespace } = pod.metadata;
  if (api === undefined) {
    return of(err(kubeletError("Unimplemented", "failed to fetch PVC from API server: there is no API server")));
  }
  const failed = (what: string) => (thrown: unknown) => {
    const error = toKubeletError(thrown);
    return of(
      err({ ...error, reason: "FailedMount", message: `failed to fetch ${what} from API server: ${error.message}` }),
    );
  };
  const claim$ = api
    .get("persistentvolumeclaims", { namespace, name: reference.claimName })
    .pipe(map(ok), catchError(failed("PVC")));
  return claim$.pipe(
    switchMap((claim) => {
      if (!claim.ok) return of(claim);
      const name = boundVolumeName(pod, reference, claim.value);
      if (!name.ok) return of(name);
      return api.get("persistentvolumes", { name: name.value }).pipe(
        map((volume) => originOf(volume, claim.value, reference.readOnly)),
        catchError(failed(`PV ${name.value}`)),
      );
    }),
  );
}
