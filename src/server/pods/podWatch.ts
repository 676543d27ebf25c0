/**
 * Watchers of the Pods API: each receives all pods, a mark, and every change after that. Changes are found and encoded
 * once for all. Bounds: MAX_WATCHERS; a watcher that falls behind is disconnected (grpcService.ts).
 */
import { status } from "@grpc/grpc-js";
import type { Observable, Subscription } from "rxjs";
import { type KnownPods, listedPods, podChanges } from "../../core/podsApi/podChanges.ts";
import { type EncodablePod, encodePod } from "../../core/podsApi/podMessage.ts";
import { EventType, type WatchPodsEvent } from "../../gen/pods.ts";
import type { StreamSink } from "../../grpcServer/grpcService.ts";
import { RpcFault } from "../../grpcServer/rpcFault.ts";
import type { KubeletQueries } from "../../ports/kubeletQueries.ts";
import type { Telemetry } from "../../ports/telemetry.ts";

const MAX_WATCHERS = 64;
const NO_PODS: KnownPods = new Map();

export interface PodWatchOptions {
  readonly queries: Pick<KubeletQueries, "pods">;
  /** Emits when pods may have changed. */
  readonly podsChanged$: Observable<unknown>;
  readonly telemetry: Telemetry;
}

/** Adds a watcher; returns the function that removes it. Throws RESOURCE_EXHAUSTED. */
export type JoinWatch = (sink: StreamSink<WatchPodsEvent>) => () => void;

/** Creates the watch. Nothing is followed without watchers. */
export function createPodWatch({ queries, podsChanged$, telemetry: { log, metrics } }: PodWatchOptions): JoinWatch {
  const watchers = new Set<StreamSink<WatchPodsEvent>>();
  let known = NO_PODS;
  let following: Subscription | undefined;
  const update = (): void => {
    const next = podChanges(known, queries.pods());
    known = next.known;
    for (const { type, pod } of next.changes) {
      const event = eventOf(EventType[type], pod);
      for (const watcher of watchers) if (!watcher.send(event)) metrics.count("kubelet_pod_watch_events_dropped_total");
    }
  };
  const follow = (): Subscription =>
    podsChanged$.subscribe({
      next: update,
      error: (error: unknown) => log.error("The watch of the Pods API broke", { error: String(error) }),
      complete: () => {},
    });
  return (sink) => {
    if (watchers.size >= MAX_WATCHERS) {
      throw new RpcFault(status.RESOURCE_EXHAUSTED, `WatchPods: ${MAX_WATCHERS} watchers are connected`);
    }
    following ??= follow();
    update();
    const all = listedPods([...known.values()]).map((pod) => eventOf(EventType.ADDED, pod));
    sink.sendAll([...all, { type: EventType.INITIAL_SYNC_COMPLETE, pod: new Uint8Array() }]);
    watchers.add(sink);
    return () => {
      watchers.delete(sink);
      if (watchers.size > 0) return;
      following?.unsubscribe();
      following = undefined;
      known = NO_PODS;
    };
  };
}

const eventOf = (type: WatchPodsEvent["type"], pod: EncodablePod): WatchPodsEvent => ({ type, pod: encodePod(pod) });
