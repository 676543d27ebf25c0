/**
 * Spaces the inspections of pods with many containers. Each container that starts or ends asks for an inspection of all
 * containers of its pod, so the time for a pod would grow by the square of its containers.
 */
import { concat, connect, filter, ignoreElements, merge, type MonoTypeOperatorFunction, of, timer } from "rxjs";
import type { PodUid } from "../../core/ids.ts";
import type { PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import { conflateByKey } from "../../operators/conflateByKey.ts";
import type { Clock } from "../../ports/clock.ts";

/** Pods with fewer containers in the runtime are inspected whenever that is requested. */
const MANY_CONTAINERS = 64;

/** The space between two inspections of a larger pod, for each of its containers. */
const SPACE_PER_CONTAINER_MS = 2;

/** The longest space: upstream's relist period, within which upstream notices a change. */
const MAX_SPACE_MS = 1_000;

/**
 * Passes the requests for most pods. For a pod with many containers, passes the first request at once, and those that
 * follow within its space as one request at the end of that space. Bound: one request waits per pod.
 */
export function spaceInspections(
  statuses: { readonly get: (uid: PodUid) => PodRuntimeStatus | undefined },
  { scheduler }: Pick<Clock, "scheduler">,
): MonoTypeOperatorFunction<PodUid> {
  const containersOf = (uid: PodUid): number => statuses.get(uid)?.containers.length ?? 0;
  const hasMany = (uid: PodUid): boolean => containersOf(uid) >= MANY_CONTAINERS;
  const space = (uid: PodUid) => timer(Math.min(MAX_SPACE_MS, containersOf(uid) * SPACE_PER_CONTAINER_MS), scheduler);
  return connect((uids$) =>
    merge(
      uids$.pipe(filter((uid) => !hasMany(uid))),
      uids$.pipe(
        filter(hasMany),
        conflateByKey((uid) => concat(of(uid), space(uid).pipe(ignoreElements())), {
          key: (uid) => uid,
          limit: Number.POSITIVE_INFINITY,
        }),
      ),
    ),
  );
}
