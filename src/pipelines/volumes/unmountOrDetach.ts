/** Unmounting what may be stuck: as usual first, then out of the way. Counterpart: UnmountWithForce of mount-utils. */
import { catchError, map, type Observable, throwError } from "rxjs";
import { type KubeletError, toKubeletError } from "../../core/errors.ts";
import type { Call } from "../../ports/call.ts";
import type { Mounts } from "../../ports/mounts.ts";

/** How it ended. */
export type UnmountOutcome =
  | { readonly kind: "unmounted" }
  /** It is out of the tree; the file system goes when its last user has gone. `stuck` says why, for log and event. */
  | { readonly kind: "detached"; readonly stuck: KubeletError };

const USUAL_MS = 30_000;

/**
 * Unmounts; what does not answer within `deadlineMs` (default 30 s), as the mount of a server that has gone, is detached.
 *
 *     answers             --(u|)          unmounted
 *     does not answer     ------d(t|)     detached after the deadline
 *     fails               --#             in use, for example: the caller decides, and tries again
 *
 * Cancels: the request under way. Errors: those of Mounts but DeadlineExceeded of the first try. Bound: two requests.
 */
export function unmountOrDetach(
  mounts: Pick<Mounts, "unmount">,
  target: string,
  deadlineMs: number = USUAL_MS,
): Call<UnmountOutcome> {
  return mounts.unmount(target, { deadlineMs }).pipe(
    map((): UnmountOutcome => ({ kind: "unmounted" })),
    catchError((thrown: unknown): Observable<UnmountOutcome> => {
      const stuck = toKubeletError(thrown);
      if (stuck.code !== "DeadlineExceeded") return throwError(() => stuck);
      return mounts.unmount(target, { isLazy: true }).pipe(map(() => ({ kind: "detached", stuck })));
    }),
  );
}
