/** Lanes to an API server that notice when it is back: who waits to try again need not wait any longer. */
import { type Observable, Subject, tap } from "rxjs";
import { isKubeletError } from "../../core/errors.ts";
import type { ApiLanes, ApiServer } from "../../ports/apiServer.ts";

/** Tells an unreachable server from one that rejects a request. */
const isAway = (thrown: unknown): boolean =>
  isKubeletError(thrown) && (thrown.code === "Unavailable" || thrown.code === "DeadlineExceeded");

/**
 * The same lanes, with `returns$`: emits when a call of any of them is answered after one that was not.
 *
 *     answers     v--#-#---v-v--#--v-
 *     returns$    ---------r-------r-
 *
 * Cancels and errors: those of the lanes. Bound: one flag.
 */
export function noticeReturns(lanes: Omit<ApiLanes, "returns$">): ApiLanes {
  const returns$ = new Subject<void>();
  let wasAway = false;
  const noticed = <T>(answers$: Observable<T>): Observable<T> =>
    answers$.pipe(
      tap({
        next: () => {
          if (!wasAway) return;
          wasAway = false;
          returns$.next();
        },
        error: (thrown: unknown) => {
          if (isAway(thrown)) wasAway = true;
        },
      }),
    );
  const lane = (api: ApiServer): ApiServer => ({
    get: (resource, ref, options) => noticed(api.get(resource, ref, options)),
    list: (resource, options) => noticed(api.list(resource, options)),
    watch: (resource, options) => noticed(api.watch(resource, options)),
    create: (resource, object, options) => noticed(api.create(resource, object, options)),
    update: (resource, object, options) => noticed(api.update(resource, object, options)),
    patch: (resource, ref, patch, options) => noticed(api.patch(resource, ref, patch, options)),
    delete: (resource, ref, options) => noticed(api.delete(resource, ref, options)),
    createSubresource: (name, ref, body, options) => noticed(api.createSubresource(name, ref, body, options)),
  });
  const { heartbeats, pods, events, objects, tokenReviews, accessReviews } = lanes;
  return {
    ...lanes,
    heartbeats: lane(heartbeats),
    pods: lane(pods),
    events: lane(events),
    objects: lane(objects),
    tokenReviews: lane(tokenReviews),
    accessReviews: lane(accessReviews),
    returns$,
  };
}
