/**
 * Unprepares claims whose pods are gone: the kubelet was down, or lost its runtime, when they ended. Runs once all sources
 * are known, then periodically. Bound: one sweep at a time, one operation per claim. Upstream: reconcileLoop of the DRA
 * manager, every minute.
 */
import { EMPTY, ignoreElements, type Observable, switchMap, tap } from "rxjs";
import { podUid, type PodUid } from "../../core/ids.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { inParallel } from "../../operators/inParallel.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { NodeView } from "../../state/nodeState.ts";
import type { DynamicResources } from "./dynamicResources.ts";

type State = Pick<NodeView, "registry" | "listing" | "claims">;

/** Sweeps once `ready$` emits: before the registry knows the pods of all sources, every pod looks gone. */
export function leftoverClaims(
  { ready$ }: { readonly ready$: Observable<unknown> },
  { clock, telemetry }: Pick<KubeletPorts, "clock" | "telemetry">,
  { resyncPeriodMs }: Pick<KubeletConfig, "resyncPeriodMs">,
  state: State,
  dynamicResources: Pick<DynamicResources, "unprepare">,
): Observable<never> {
  const release = (uid: PodUid): Observable<never> =>
    dynamicResources.unprepare(uid, undefined).pipe(
      tap((unprepared) => {
        const fields = { podUid: uid };
        if (unprepared.ok) telemetry.log.info("Unprepared the claims of an earlier pod", fields);
        else
          telemetry.log.warn("Cannot unprepare the claims of an earlier pod", { ...fields, error: unprepared.error });
      }),
      ignoreElements(),
    );
  const sweep = (): Observable<never> => {
    const gone = goneUsers(state);
    return gone.length === 0 ? EMPTY : inParallel(gone, release);
  };
  return ready$.pipe(switchMap(() => pollAfter(clock, resyncPeriodMs, sweep)));
}

/** Returns the users of claims that neither the registry nor the runtime has. */
function goneUsers({ registry, listing, claims }: State): readonly PodUid[] {
  const users = new Set([...claims.value.values()].flatMap(({ podUids }) => [...podUids]));
  return [...users]
    .map(podUid)
    .filter((uid) => !registry.value.records.has(uid) && listing.value?.pods.has(uid) !== true);
}
