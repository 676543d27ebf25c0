/** What is seen between a simulated node, its runtime's word and its API server. Keeps what was seen last. */
import { filter, map, merge, type Observable, tap } from "rxjs";
import type { Node } from "../core/api.ts";
import type { RuntimeService } from "../ports/cri.ts";
import type { SimApiServer } from "./apiServer/simApiServer.ts";
import type { SimSight } from "./simObservation.ts";

/** Everything the API server comes to know of the node itself, and whether it can be reached. */
export function clusterSights(server: SimApiServer, nodeName: string): Observable<SimSight> {
  let told: string | undefined;
  const sightOf = (resource: string, object: object): SimSight | undefined => {
    if (resource === "leases") {
      const { spec } = object as { readonly spec?: { readonly leaseDurationSeconds?: number } };
      return { kind: "lease", durationSeconds: spec?.leaseDurationSeconds ?? 0 };
    }
    const ready = (object as Node).status?.conditions?.find(({ type }) => type === "Ready");
    const word = `${ready?.status} ${ready?.message}`;
    if (word === told) return undefined;
    told = word;
    return { kind: "nodeReady", status: ready?.status, message: ready?.message ?? "" };
  };
  return merge(
    server.network$.pipe(map((state): SimSight => ({ kind: "apiServer", isUp: state === "up" }))),
    server.changes$.pipe(
      filter(({ resource, object, type }) => {
        const isOfNode = resource === "nodes" || resource === "leases";
        return isOfNode && type !== "DELETED" && object.metadata.name === nodeName;
      }),
      map(({ resource, object }) => sightOf(resource, object)),
      filter((sight) => sight !== undefined),
    ),
  );
}

/** Tells what the runtime says of itself whenever it is asked, or that it says nothing. */
export function seenStatus(runtime: RuntimeService, see: (sight: SimSight) => void): RuntimeService {
  const note = (isReady: boolean | undefined): void => see({ kind: "runtimeSays", isReady });
  return {
    ...runtime,
    status: (request, options) =>
      runtime.status(request, options).pipe(
        tap({
          next: ({ status }) => note(status?.conditions.every((condition) => condition.status) === true),
          error: () => note(undefined),
        }),
      ),
  };
}
