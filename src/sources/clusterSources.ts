/**
 * Watches of everything that a node follows at its API server: its Node, its pods, services, RuntimeClasses and
 * CSIDrivers. Bounds: one reflector each; subscribers of the Node share one. Upstream: the listers of pkg/kubelet, its
 * runtimeclass manager, and makePodSourceConfig.
 */
import {
  concat,
  distinctUntilChanged,
  filter,
  finalize,
  ignoreElements,
  map,
  type Observable,
  ReplaySubject,
  share,
  shareReplay,
  startWith,
  take,
  tap,
  timer,
} from "rxjs";
import type { ApiObjects, ApiResourceName } from "../core/api/apiResources.ts";
import type { ObjectsByKey } from "../core/api/reflection.ts";
import type { Node } from "../core/api.ts";
import type { KubeletError } from "../core/errors.ts";
import type { SourceSnapshot } from "../core/pod/sourceSnapshot.ts";
import type { RuntimeClasses } from "../core/runtime/runtimeHandler.ts";
import type { ApiSelection } from "../ports/apiServer.ts";
import type { ClusterObjects } from "../ports/clusterObjects.ts";
import { apiPodSource } from "./apiPodSource.ts";
import { reflect, type ReflectorOptions } from "./reflector.ts";

export interface ClusterSourcesOptions extends Omit<ReflectorOptions<ApiResourceName>, "resource" | "selection"> {
  readonly nodeName: string;
  /**
   * Reports health as a value: why a resource cannot be followed; undefined once it can be, or has no subscribers any
   * more.
   */
  readonly onHealth?: (resource: ApiResourceName, problem: KubeletError | undefined) => void;
}

/** The port, and the inputs of other ports. */
export interface ClusterSources extends ClusterObjects {
  /** The pods bound to this node, once the node is known, whose labels and taints admission needs. */
  readonly pods$: Observable<SourceSnapshot>;
  readonly runtimeClasses$: Observable<RuntimeClasses>;
  /** Returns the last known Node of a subscriber of `node$`. */
  lastNode(): Node | undefined;
}

/** Follows each resource while it has subscribers. Errors: only InvariantError. */
export function clusterSources({ nodeName, onHealth, ...options }: ClusterSourcesOptions): ClusterSources {
  const objects = <R extends ApiResourceName>(
    resource: R,
    selection: ApiSelection = {},
  ): Observable<ObjectsByKey<ApiObjects[R]>> =>
    reflect({ ...options, resource, selection }).pipe(
      tap(({ problem }) => onHealth?.(resource, problem)),
      map(({ objects: listed }) => listed),
      filter((listed) => listed !== undefined),
      distinctUntilChanged(),
    );
  let lastNode: Node | undefined;
  const node$ = objects("nodes", { fieldSelector: `metadata.name=${nodeName}` }).pipe(
    map((nodes) => nodes.get(nodeName)),
    tap((node) => {
      lastNode = node;
    }),
    shareReplay({ bufferSize: 1, refCount: true }),
  );
  const pods$ = apiPodSource({ ...options, nodeName, onHealth: (problem) => onHealth?.("pods", problem) });
  return {
    node$,
    lastNode: () => lastNode,
    pods$: concat(node$.pipe(take(1), ignoreElements()), pods$),
    // The environment of pods excludes headless services.
    services$: objects("services", { fieldSelector: "spec.clusterIP!=None" }).pipe(
      map((services) => [...services.values()]),
    ),
    csiDrivers$: objects("csidrivers").pipe(
      finalize(() => onHealth?.("csidrivers", undefined)),
      share({
        connector: () => new ReplaySubject(1),
        // A pod may unsubscribe in the same turn in which the next pod subscribes.
        resetOnRefCountZero: () => timer(0, options.clock.scheduler),
      }),
    ),
    // RuntimeClasses of manifests are known before the API server has answered.
    runtimeClasses$: objects("runtimeclasses").pipe(startWith(new Map())),
  };
}
