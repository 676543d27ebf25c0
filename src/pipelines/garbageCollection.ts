/**
 * Garbage collection of containers and images: in rounds, and at the request of the eviction manager. A request waits for
 * the round that runs. Bounds: RECLAIM_MS for a request, so that a hanging runtime does not stop the eviction manager.
 * Writes no cell.
 */
import { catchError, defer, EMPTY, forkJoin, merge, type Observable, race, switchMap, timer } from "rxjs";
import { toKubeletError } from "../core/errors.ts";
import type { KubeletEvent } from "../core/events.ts";
import type { ImageUse } from "../core/image/reclaimableImages.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import { deadline } from "../operators/deadline.ts";
import type { Call } from "../ports/call.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import { arePodsRestored, registrySettled, runtimeKnown, statusesRebuilt } from "../state/milestones.ts";
import type { NodeView } from "../state/nodeState.ts";
import { createImageGc } from "./images/imageGc.ts";
import type { NodeReclaim } from "./nodeReclaim.ts";
import { createContainerGc } from "./runtime/containerGc.ts";

type Ports = Pick<
  KubeletPorts,
  "clock" | "files" | "hostUsage" | "images" | "logFiles" | "runtime" | "telemetry" | "tracing"
>;
type Config = Pick<KubeletConfig, "containerGc" | "directories" | "imageGc" | "nodeName" | "sources">;
type State = Pick<NodeView, "listing" | "podStatuses" | "registry" | "restored" | "runtimeState" | "sourcesSeen">;

/** Limit of a request; the eviction manager asks again while the node stays under pressure. */
const RECLAIM_MS = 30_000;
/** Time after which unused images may go although a source has not reported, rather than that pods are evicted. */
const SOURCES_WAIT_MS = 60_000;
/** Time after which dead containers are collected although a pod still has no status; those of such a pod stay. */
const STATUSES_WAIT_MS = 60_000;

/** Garbage collection of a node. */
export interface GarbageCollection {
  /** Collects while subscribed; emits events of the node. Never errors. */
  readonly events$: Observable<KubeletEvent>;
  /** Emits after each removed image. */
  readonly imagesRemoved$: Observable<void>;
  readonly reclaim: NodeReclaim;
  /** Returns what `reclaim` would remove now. Errors: KubeletError of the runtime. */
  unused(): Call<UnusedResources>;
}

/** Resources of the node that no pod needs. */
export interface UnusedResources {
  readonly deadContainers: number;
  readonly images: ImageUse;
}

/** Creates the collection; it removes nothing before `events$` is subscribed or a request comes. */
export function createGarbageCollection(ports: Ports, config: Config, state: State): GarbageCollection {
  const ready$ = runtimeKnown(state).pipe(
    switchMap(() => race(statusesRebuilt(state), timer(STATUSES_WAIT_MS, ports.clock.scheduler))),
  );
  const containers = createContainerGc({ ready$ }, ports, config, state);
  const images = createImageGc({ ready$: registrySettled(state) }, ports, config, state);
  const createdAt = ports.clock.monotonicMs();
  /**
   * Until the pods of all sources are known, every image may be one that a pod needs; later it can be pulled again. Pods from disk
   * are known ones: without the API server, no other pod of it comes, and an evicted pod is not replaced.
   */
  const mayDeleteImages = (): boolean =>
    state.registry.value.isSettled ||
    arePodsRestored(config, state) ||
    ports.clock.monotonicMs() - createdAt >= SOURCES_WAIT_MS;
  const bounded = (reclaim$: Observable<never>): Observable<never> =>
    reclaim$.pipe(
      deadline(RECLAIM_MS, ports.clock),
      catchError((thrown: unknown) => {
        const error = toKubeletError(thrown);
        ports.telemetry.log.warn("Eviction manager: unexpected error when attempting to reduce resource pressure", {
          error,
        });
        return EMPTY;
      }),
    );
  return {
    events$: merge(containers.events$, images.events$),
    imagesRemoved$: images.removed$,
    reclaim: {
      deleteUnusedImages: () => defer(() => (mayDeleteImages() ? bounded(images.deleteUnused()) : EMPTY)),
      deleteUnusedContainers: () => bounded(containers.deleteUnused()),
    },
    unused: () => forkJoin({ deadContainers: containers.countUnused(), images: images.use() }),
  };
}
