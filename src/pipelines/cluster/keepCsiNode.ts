/**
 * Keeps the CSINode of the Node: creates it, lists the registered CSI drivers in it, and removes drivers that deregister.
 * Deletes a CSINode of an earlier Node with the same name.
 * State: names of removed drivers until they are removed. Bound: one request at a time; nothing waits for it.
 * Upstream: initializeCSINode of pkg/volume/csi, and its nodeinfomanager. Differs from upstream: the node is Ready without
 * it, and persistent failure does not end the daemon.
 */
import {
  catchError,
  concat,
  defer,
  distinctUntilChanged,
  EMPTY,
  ignoreElements,
  map,
  type Observable,
  of,
  pairwise,
  startWith,
  switchMap,
  tap,
} from "rxjs";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import type { CsiDrivers } from "../../core/csi/csiDriverFacts.ts";
import { type CsiNode, type CsiNodeStep, csiNodeStep } from "../../core/node/csiNode.ts";
import type { Node } from "../../core/api.ts";
import type { BackoffCurve } from "../../operators/backoffDelay.ts";
import { conflateMap } from "../../operators/conflateMap.ts";
import { retryWithBackoff } from "../../operators/retryWithBackoff.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { ReadonlyCell } from "../../state/cell.ts";

export interface CsiNodeWriter extends Pick<KubeletPorts, "clock" | "rng" | "telemetry"> {
  readonly api: Pick<ApiServer, "get" | "create" | "update" | "delete">;
  readonly nodeName: string;
  readonly node: ReadonlyCell<Node | undefined>;
  readonly csiDrivers: ReadonlyCell<CsiDrivers>;
}

const BACKOFF: BackoffCurve = { initialMs: 200, maxMs: 60_000, jitter: 0.5 };

/** Emits after each change of the drivers, and keeps the names of those that went. */
export const watchDrivers = (
  { csiDrivers }: Pick<CsiNodeWriter, "csiDrivers">,
  gone: Set<string>,
): Observable<unknown> =>
  csiDrivers.changes$.pipe(
    startWith<CsiDrivers>(new Map()),
    pairwise(),
    tap(([before, now]) => {
      for (const name of before.keys()) if (!now.has(name)) gone.add(name);
      for (const name of now.keys()) gone.delete(name);
    }),
  );

/** Follows the Node and its drivers; never emits, errors or completes. Cancels: the requests for a removed Node. */
export const csiNode = (writer: CsiNodeWriter): Observable<never> =>
  defer(() => {
    const gone = new Set<string>();
    const drivers$ = watchDrivers(writer, gone);
    return writer.node.changes$.pipe(
      map((node) => node?.metadata?.uid ?? ""),
      distinctUntilChanged(),
      switchMap((uid) => (uid === "" ? EMPTY : drivers$.pipe(conflateMap(() => ensure(writer, uid, gone))))),
    );
  });

/** Completes once the CSINode exists, with the drivers as they are then. */
function ensure(writer: CsiNodeWriter, nodeUid: string, gone: Set<string>): Observable<never> {
  const { api, nodeName, telemetry, csiDrivers } = writer;
  const name = nodeName;
  const existing$ = defer((): Observable<CsiNode | undefined> => api.get("csinodes", { name })).pipe(
    catchError((thrown: unknown) => {
      if (toKubeletError(thrown).code !== "NotFound") throw thrown;
      return of(undefined);
    }),
  );
  return existing$.pipe(
    switchMap((existing) => {
      const drivers = { registered: csiDrivers.value, gone: new Set(gone) };
      const next = csiNodeStep(existing, { nodeName, nodeUid, drivers });
      return concat(
        step(writer, next).pipe(ignoreElements()),
        defer(() => {
          for (const removed of drivers.gone) if (!csiDrivers.value.has(removed)) gone.delete(removed);
          return EMPTY;
        }),
      );
    }),
    retryWithBackoff(BACKOFF, writer, (failure) => telemetry.log.error("Failed to update CSINode", { ...failure })),
  );
}

function step({ api, nodeName: name }: CsiNodeWriter, next: CsiNodeStep): Observable<unknown> {
  switch (next.kind) {
    case "none":
      return EMPTY;
    case "create":
      return api.create("csinodes", next.object);
    case "update":
      return api.update("csinodes", next.object);
    case "delete":
      // Check again after the pause: a finalizer may delay the deletion.
      return api.delete("csinodes", { name }, { preconditions: { uid: next.uid } }).pipe(
        map(() => {
          throw kubeletError("Conflict", `CSINode ${name} was of an earlier Node of this name, deleted it`);
        }),
      );
  }
}
