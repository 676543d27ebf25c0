/** Observations of a simulated node's readiness, the status of its runtime and its API server. Owns the last values. */
import { distinctUntilChanged, filter, map, merge, type Observable, tap } from "rxjs";
import { typed } from "../core/apiObjects/storedObject.ts";
import type { Node } from "../core/api.ts";
import { sizeBytes } from "../core/volume/volumeExpansion.ts";
import { sameItems } from "../core/sameValue.ts";
import type { RuntimeService } from "../ports/cri.ts";
import type { SimApiServer } from "./apiServer/simApiServer.ts";
import type { UntimedObservation } from "./simObservation.ts";

/** Observes all Node and lease writes, and whether the API server is reachable. */
export function clusterObservations(server: SimApiServer, nodeName: string): Observable<UntimedObservation> {
  let reported: string | undefined;
  const observationOf = (resource: string, object: object): UntimedObservation | undefined => {
    if (resource === "leases") {
      const { spec } = object as { readonly spec?: { readonly leaseDurationSeconds?: number } };
      return { kind: "lease", durationSeconds: spec?.leaseDurationSeconds ?? 0 };
    }
    const ready = (object as Node).status?.conditions?.find(({ type }) => type === "Ready");
    const word = `${ready?.status} ${ready?.message}`;
    if (word === reported) return undefined;
    reported = word;
    return { kind: "nodeReady", status: ready?.status, message: ready?.message ?? "" };
  };
  return merge(
    server.network$.pipe(map((state): UntimedObservation => ({ kind: "apiServer", isUp: state === "up" }))),
    server.changes$.pipe(
      filter(({ resource, object, type }) => {
        const isOfNode = resource === "nodes" || resource === "leases";
        return isOfNode && type !== "DELETED" && object.metadata.name === nodeName;
      }),
      map(({ resource, object }) => observationOf(resource, object)),
      filter((observation) => observation !== undefined),
    ),
  );
}

/** Observes each change of the volumes that the Node has in use. */
export const inUseObservations = (server: SimApiServer, nodeName: string): Observable<UntimedObservation> =>
  server.changes$.pipe(
    filter(({ resource, object }) => resource === "nodes" && object.metadata.name === nodeName),
    map(({ object }): readonly string[] => typed<"nodes">(object).status?.volumesInUse ?? []),
    distinctUntilChanged<readonly string[]>(sameItems),
    map((volumes) => ({ kind: "inUse", volumes })),
  );

/** Observes each new size in the status of a claim of a PersistentVolume. */
export const claimSizes = (server: SimApiServer): Observable<UntimedObservation> =>
  server.changes$.pipe(
    filter(({ resource, type }) => resource === "persistentvolumeclaims" && type !== "DELETED"),
    map(({ object, previous }) => {
      const { metadata: { name = "" } = {}, spec, status } = typed<"persistentvolumeclaims">(object);
      const sizeOf = (claim: typeof status): string | undefined => claim?.capacity?.["storage"];
      const size = sizeOf(status);
      if (size === undefined || size === sizeOf(previous && typed<"persistentvolumeclaims">(previous).status))
        return undefined;
      const { csi } = server.object("persistentvolumes", { name: spec?.volumeName ?? "" })?.spec ?? {};
      if (csi === undefined) return undefined;
      const told = { driver: csi.driver, volume: csi.volumeHandle, path: name, call: 0, bytes: sizeBytes(size) };
      return { kind: "csi", ...told, rpc: "claimSize", what: "done" } as const;
    }),
    filter((observation) => observation !== undefined),
  );

/** Observes the drivers and users of each ResourceClaim. */
export const claimObservations = (server: SimApiServer): Observable<UntimedObservation> =>
  server.changes$.pipe(
    filter(({ resource, type }) => resource === "resourceclaims" && type !== "DELETED"),
    map(({ object }) => {
      const { metadata, status } = typed<"resourceclaims">(object);
      const results = status?.allocation?.devices?.results ?? [];
      return {
        kind: "claim",
        name: metadata?.name ?? "",
        uid: metadata?.uid ?? "",
        drivers: results.map(({ driver }) => driver),
        podUids: (status?.reservedFor ?? []).map(({ uid }) => uid),
      };
    }),
  );

/** Observes each answer to a Status call of the runtime, or its failure. */
export function seenStatus(runtime: RuntimeService, see: (observation: UntimedObservation) => void): RuntimeService {
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
