/**
 * Creates the CSINode of the Node, once for each Node. Stateless. Bound: one request at a time; nothing waits for it.
 * Upstream: initializeCSINode of pkg/volume/csi. Differs from upstream: the node is Ready without it, since no CSI
 * volumes are served, and persistent failure does not end the daemon.
 */
import {
  catchError,
  defer,
  distinctUntilChanged,
  EMPTY,
  ignoreElements,
  map,
  type Observable,
  of,
  switchMap,
} from "rxjs";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { type CsiNode, type CsiNodeStep, csiNodeStep } from "../../core/node/csiNode.ts";
import type { Node } from "../../core/api.ts";
import type { BackoffCurve } from "../../operators/backoffDelay.ts";
import { retryWithBackoff } from "../../operators/retryWithBackoff.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { ReadonlyCell } from "../../state/cell.ts";

export interface CsiNodeWriter extends Pick<KubeletPorts, "clock" | "rng" | "telemetry"> {
  readonly api: Pick<ApiServer, "get" | "create" | "update" | "delete">;
  readonly nodeName: string;
  readonly node: ReadonlyCell<Node | undefined>;
}

const BACKOFF: BackoffCurve = { initialMs: 200, maxMs: 60_000, jitter: 0.5 };

/** Follows the Node; never emits, errors or completes. Cancels: the requests for a removed Node. */
export const csiNode = (writer: CsiNodeWriter): Observable<never> =>
  writer.node.changes$.pipe(
    map((node) => node?.metadata?.uid ?? ""),
    distinctUntilChanged(),
    switchMap((uid) => (uid === "" ? EMPTY : ensure(writer, uid))),
  );

/** Completes once the CSINode exists. */
function ensure(writer: CsiNodeWriter, nodeUid: string): Observable<never> {
  const { api, nodeName, telemetry } = writer;
  const name = nodeName;
  const existing$ = defer((): Observable<CsiNode | undefined> => api.get("csinodes", { name })).pipe(
    catchError((thrown: unknown) => {
      if (toKubeletError(thrown).code !== "NotFound") throw thrown;
      return of(undefined);
    }),
  );
  return existing$.pipe(
    switchMap((existing) => step(writer, csiNodeStep(existing, nodeName, nodeUid))),
    retryWithBackoff(BACKOFF, writer, (failure) => telemetry.log.error("Failed to initialize CSINode", { ...failure })),
    ignoreElements(),
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
