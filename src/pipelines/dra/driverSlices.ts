/**
 * Deletes the ResourceSlices of drivers that have gone. Bound: one list and one deletion at a time; failures wait 1 s
 * doubling to 5 min. Upstream: wipeResourceSlices of DRAPluginManager.
 */
import { catchError, defer, EMPTY, ignoreElements, map, type Observable, of, switchMap, tap, throwError } from "rxjs";
import type { ApiObjects } from "../../core/api/apiResources.ts";
import {
  absenceAtStart,
  afterDeletion,
  type DriverAbsence,
  isGone,
  nextDueAt,
  withUsable,
} from "../../core/dra/driverAbsence.ts";
import { toKubeletError } from "../../core/errors.ts";
import { type MonotonicMs, monotonicMs } from "../../core/ids.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { type BackoffCurve, backoffDelay } from "../../operators/backoffDelay.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { reconcile } from "../../operators/reconcile.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import type { DraDriverMap } from "../../ports/draDrivers.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { ReadonlyCell } from "../../state/cell.ts";

type Slice = ApiObjects["resourceslices"];

const BACKOFF: BackoffCurve = { initialMs: 1_000, maxMs: 300_000, jitter: 0.2 };

/** Runs while subscribed; never emits, never errors. */
export function driverSlices(
  { api, draDrivers, clock, rng, telemetry }: Pick<KubeletPorts, "api" | "draDrivers" | "clock" | "rng" | "telemetry">,
  { nodeName }: Pick<KubeletConfig, "nodeName">,
  drivers: ReadonlyCell<DraDriverMap>,
): Observable<never> {
  if (api === undefined || draDrivers === undefined) return EMPTY;
  return defer(() => {
    let absence: DriverAbsence = absenceAtStart(clock.monotonicMs());
    let failures = 0;
    let notBefore: MonotonicMs = clock.monotonicMs();
    const note = (known: DraDriverMap): void => {
      const usable = [...known.values()].filter(({ isConnected }) => isConnected).map(({ name }) => name);
      absence = withUsable(absence, new Set(usable), clock.monotonicMs());
    };
    const dueInMs = (): number | undefined => {
      const dueAt = nextDueAt(absence);
      return dueAt === undefined ? undefined : Math.max(dueAt, notBefore) - clock.monotonicMs();
    };
    const round = (): Observable<never> => {
      if ((dueInMs() ?? 1) > 0) return EMPTY;
      const now = clock.monotonicMs();
      const succeeded = (): void => {
        absence = afterDeletion(absence, now);
        failures = 0;
      };
      return deleteSlices(api.objects, nodeName, ({ spec }) => isGone(absence, spec.driver, now)).pipe(
        tap((slice) => telemetry.log.info("Deleted a ResourceSlice, since its driver has gone", wordsOf(slice))),
        tap({ complete: succeeded }),
        catchError((thrown: unknown) => {
          failures += 1;
          const delayMs = backoffDelay(BACKOFF, failures, rng);
          notBefore = monotonicMs(clock.monotonicMs() + delayMs);
          telemetry.log.warn("Cannot delete ResourceSlices, trying again", { error: toKubeletError(thrown), delayMs });
          return EMPTY;
        }),
        ignoreElements(),
      );
    };
    const triggers$ = drivers.changes$.pipe(tap(note));
    return reconcile({ triggers$, run: round, wakeAfterMs: () => dueInMs(), clock });
  });
}

const wordsOf = ({ metadata, spec }: Slice) => ({ slice: metadata?.name, driver: spec.driver });

/** Emits each deleted slice. Errors if the server fails; a server without ResourceSlices has none. */
function deleteSlices(
  api: Pick<ApiServer, "list" | "delete">,
  nodeName: string,
  isDue: (slice: Slice) => boolean,
): Observable<Slice> {
  return listSlices(api, nodeName).pipe(
    switchMap((slices) => inSequence(slices.filter(isDue), (slice) => deleteSlice(api, slice))),
  );
}

function listSlices(api: Pick<ApiServer, "list">, nodeName: string): Observable<readonly Slice[]> {
  return api.list("resourceslices", { fieldSelector: `spec.nodeName=${nodeName}` }).pipe(
    map(({ items }) => items),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      return error.code === "NotFound" ? of([]) : throwError(() => error);
    }),
  );
}

function deleteSlice(api: Pick<ApiServer, "delete">, slice: Slice): Observable<Slice> {
  const { name = "", uid = "" } = slice.metadata ?? {};
  return api.delete("resourceslices", { name }, { preconditions: { uid } }).pipe(
    map(() => slice),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      // Another client was faster, or the driver has published a new one.
      return error.code === "NotFound" || error.code === "Conflict" ? EMPTY : throwError(() => error);
    }),
  );
}
