/** Pods handed to the kubelet directly, complete and defaulted, as no server would: for tests of what it does with them. */
import { map, type Observable, observeOn } from "rxjs";
import type { Pod } from "../../core/api.ts";
import type { SourceSnapshot } from "../../core/pod/sourceSnapshot.ts";
import type { Clock } from "../../ports/clock.ts";
import { createCell } from "../../state/cell.ts";

export interface SimApiPods {
  /** All of them at once, then again after every change. */
  readonly snapshots$: Observable<SourceSnapshot>;
  /** Adds a pod, or replaces the one with its UID. */
  put(pod: Pod): void;
  /** Takes a pod away as if it had been deleted by force. */
  drop(uid: string): void;
  /** In the order of their first `put`. */
  all(): readonly Pod[];
}

/** Makes the source, with these pods. */
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
