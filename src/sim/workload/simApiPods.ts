/**
 * A source of API pods that hands complete, defaulted pods to the kubelet directly, without an API server: for tests
 * of the kubelet's own handling.
 */
import { map, type Observable, observeOn } from "rxjs";
import type { Pod } from "../../core/api.ts";
import type { SourceSnapshot } from "../../core/pod/sourceSnapshot.ts";
import type { Clock } from "../../ports/clock.ts";
import { createCell } from "../../state/cell.ts";

export interface SimApiPods {
  /** Emits all pods at once, then again after every change. */
  readonly snapshots$: Observable<SourceSnapshot>;
  /** Adds a pod, or replaces the one with its UID. */
  put(pod: Pod): void;
  /** Removes a pod as a forced deletion does. */
  drop(uid: string): void;
  /** All pods in the order of their first `put`. */
  all(): readonly Pod[];
}

/** Creates the source with these pods. */
export function createSimApiPods(clock: Clock, pods: readonly Pod[] = []): SimApiPods {
  const cell = createCell<ReadonlyMap<string, Pod>>(new Map(pods.map((pod) => [pod.metadata.uid, pod])));
  return {
    snapshots$: cell.changes$.pipe(
      observeOn(clock.scheduler),
      map((wanted) => ({ source: "api", pods: [...wanted.values()], problems: [] })),
    ),
    put: (pod) => cell.set(new Map(cell.value).set(pod.metadata.uid, pod)),
    drop: (uid) => cell.set(new Map([...cell.value].filter(([known]) => known !== uid))),
    all: () => [...cell.value.values()],
  };
}
