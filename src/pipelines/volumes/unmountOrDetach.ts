/**
 * Unmounts a path that may be stuck: normally first, lazily if that does not answer. Upstream: UnmountWithForce of
 * mount-utils.
 */
import { catchError, map, type Observable, throwError } from "rxjs";
import { type KubeletError, toKubeletError } from "../../core/errors.ts";
import type { Call } from "../../ports/call.ts";
import type { Mounts } from "../../ports/mounts.ts";

/** The outcome of an unmount. */
export type UnmountOutcome =
  | { readonly kind: "unmounted" }
  /**
   * The mount is detached from the tree; its file system is released with its last user. `stuck` has the reason, for
   * log and event.
   */
  | { readonly kind: "detached"; readonly stuck: KubeletError };

const USUAL_MS = 30_000;

/**
 * Unmounts; a mount that does not answer within `deadlineMs` (default 30 s), because its server is gone, is detached.
 *
 *     answers             --(u|)          unmounted
 *     does not answer     ------d(t|)     detached after the deadline
 *     fails               --#             in use, for example: the caller decides, and tries again
 *
 * Cancels: the request in flight. Errors: those of Mounts except DeadlineExceeded of the first attempt. Bound: two
 * requests.
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
