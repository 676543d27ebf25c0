/**
 * The pods the API server has bound to this node, as snapshots. Emits nothing before the server's first answer, so
 * that housekeeping does not act on a source that is not ready. Bounds: those of the reflector; each object is parsed
 * once. Upstream: NewSourceApiserver of pkg/kubelet/config/apiserver.go.
 */
import { distinctUntilChanged, filter, map, type Observable, scan, tap } from "rxjs";
import { NO_API_POD_OBJECTS } from "../core/api/apiPodObjects.ts";
import type { KubeletError } from "../core/errors.ts";
import { apiSnapshot, NO_API_PODS, readApiPods } from "../core/pod/apiPods.ts";
import type { SourceSnapshot } from "../core/pod/sourceSnapshot.ts";
import { reflect, type ReflectorOptions } from "./reflector.ts";

export interface ApiPodSourceOptions extends Omit<ReflectorOptions<"pods">, "resource" | "selection"> {
  readonly nodeName: string;
  /** Called with the health of the watch: why the server cannot be followed; undefined once it can be. */
  readonly onHealth?: (problem: KubeletError | undefined) => void;
}

/**
 * Emits the API pods of this node, whenever they change.
 *
 *     reflected   ?!-----{a}--{a}!--{ab}--{b}--      ! with a problem, ? not known yet
 *     snapshots   -------a----------ab----b----
 *
 * The first snapshot after each relist is marked `afterGap`. Mirror pods are not run: they represent pods of other
 * sources, and are only among the objects of the API. Cancels: the reflector. Errors: only InvariantError; it never
 * completes. Bound: that of the reflector.
 */
export function apiPodSource({ nodeName, onHealth, ...options }: ApiPodSourceOptions): Observable<SourceSnapshot> {
  const { clock } = options;
  const selection = { fieldSelector: `spec.nodeName=${nodeName}` };
  return reflect({ ...options, resource: "pods", selection }).pipe(
    tap(({ problem }) => onHealth?.(problem)),
    map(({ objects, version, states }) => objects && { reported: { byName: objects, version }, states }),
    filter((reflected) => reflected !== undefined),
    distinctUntilChanged((before, now) => before.reported.byName === now.reported.byName),
    scan(
      ({ pods, states: before }, { reported, states }) => ({
        pods: readApiPods(pods, reported.byName, clock.wallTime()),
        reported,
        states,
        afterGap: before > 0 && states > before,
      }),
      { pods: NO_API_PODS, reported: NO_API_POD_OBJECTS, states: 0, afterGap: false },
    ),
    map(({ pods, reported, afterGap }) => ({
      ...apiSnapshot(pods),
      reported,
      ...(afterGap ? { afterGap } : {}),
    })),
  );
}
