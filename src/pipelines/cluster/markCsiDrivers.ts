/**
 * Keeps the marks of CSI drivers on the Node: its IDs in their storage systems, and the labels of its place. State: names
 * of removed drivers until they are removed, the Node as last written. Bound: one request at a time; failures wait 200 ms
 * doubling to a minute. Upstream: updateNode of pkg/volume/csi/nodeinfomanager.
 */
import { defer, EMPTY, ignoreElements, merge, type Observable, tap } from "rxjs";
import type { Node } from "../../core/api.ts";
import { csiNodePatch } from "../../core/node/csiNodeMarks.ts";
import { newerObject } from "../../core/node/newerObject.ts";
import type { BackoffCurve } from "../../operators/backoffDelay.ts";
import { conflateMap } from "../../operators/conflateMap.ts";
import { retryWithBackoff } from "../../operators/retryWithBackoff.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import { type CsiNodeWriter, watchDrivers } from "./keepCsiNode.ts";

export interface CsiMarksWriter extends Omit<CsiNodeWriter, "api"> {
  readonly api: Pick<ApiServer, "patch">;
}

const BACKOFF: BackoffCurve = { initialMs: 200, maxMs: 60_000, jitter: 0.5 };

/** Follows the Node and its drivers; never emits, errors or completes. */
export const csiMarks = (writer: CsiMarksWriter): Observable<never> =>
  defer(() => {
    const { api, nodeName: name, node, csiDrivers, telemetry } = writer;
    const gone = new Set<string>();
    let written: Node | undefined;
    let complaint = "";
    const look = (): Observable<unknown> => {
      const known = node.value;
      if (known === undefined || (csiDrivers.value.size === 0 && gone.size === 0)) return EMPTY;
      const isSameNode = written?.metadata?.uid === known.metadata?.uid;
      const base = written !== undefined && isSameNode ? newerObject(known, written) : known;
      const removing = new Set(gone);
      const patch = csiNodePatch(base, { registered: csiDrivers.value, gone: removing });
      const problem = patch.ok ? "" : patch.error.message;
      if (problem !== "" && problem !== complaint)
        telemetry.log.error("Cannot mark the Node with its CSI drivers", { problem });
      complaint = problem;
      const body = patch.ok ? patch.value : undefined;
      if (body === undefined) return EMPTY;
      const type = "application/merge-patch+json";
      return api.patch("nodes", { name }, { type, body }, { subresource: "status" }).pipe(
        tap((answer) => {
          written = answer;
          for (const driver of removing) if (!csiDrivers.value.has(driver)) gone.delete(driver);
        }),
      );
    };
    return merge(node.changes$, watchDrivers(writer, gone)).pipe(
      conflateMap(() =>
        defer(look).pipe(
          retryWithBackoff(BACKOFF, writer, (failure) =>
            telemetry.log.error("Failed to mark the Node with its CSI drivers", { ...failure }),
          ),
        ),
      ),
      ignoreElements(),
    );
  });
