/**
 * Reads the allocations that an earlier kubelet made for the pods of this node, before any admission. An unusable
 * file counts as missing: its pod then has the size of its spec. Bound: 16 files at once, five seconds altogether.
 */
import { catchError, concat, defer, EMPTY, from, ignoreElements, map, type Observable, of, switchMap } from "rxjs";
import { type AllocationRecord, decodeAllocation, MAX_ALLOCATION_BYTES } from "../../core/allocation/allocationFile.ts";
import { toKubeletError } from "../../core/errors.ts";
import { type PodUid, podUid } from "../../core/ids.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { podAllocationPath, podsDir } from "../../core/paths.ts";
import { boundedMergeMap } from "../../operators/boundedMergeMap.ts";
import { deadline } from "../../operators/deadline.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";

const READS_AT_ONCE = 16;
/** More pods than any node has. */
const MAX_PODS = 65_536;
/** Upper bound on the delay of the node's start by a disk without an answer. */
const READ_DEADLINE_MS = 5_000;

type Ports = Pick<KubeletPorts, "files" | "clock" | "telemetry">;

/** Emits the records by pod, once; never errors. */
export function restoreAllocations(
  { files, clock, telemetry }: Ports,
  { directories }: Pick<KubeletConfig, "directories">,
): Observable<ReadonlyMap<PodUid, AllocationRecord>> {
  const read = (uid: string): Observable<readonly [PodUid, AllocationRecord]> => {
    const path = podAllocationPath(directories, uid);
    return files.readTail(path, MAX_ALLOCATION_BYTES).pipe(
      switchMap((text) => {
        const record = decodeAllocation(text);
        if (record !== undefined) return of([podUid(uid), record] as const);
        telemetry.log.warn("An allocation cannot be used; the pod gets what its spec asks for", { podUid: uid, path });
        return EMPTY;
      }),
      catchError((thrown: unknown) => {
        const error = toKubeletError(thrown);
        if (error.code !== "NotFound") telemetry.log.warn("Cannot read an allocation", { podUid: uid, path, error });
        return EMPTY;
      }),
    );
  };
  return defer(() => {
    const found = new Map<PodUid, AllocationRecord>();
    const read$ = files.list(podsDir(directories)).pipe(
      switchMap((uids) => from(uids)),
      boundedMergeMap(read, { limit: READS_AT_ONCE, queueLimit: MAX_PODS }),
      map(([uid, record]) => found.set(uid, record)),
      ignoreElements(),
      deadline(READ_DEADLINE_MS, clock),
      catchError((thrown: unknown) => {
        telemetry.log.warn("Not every allocation could be read", { error: toKubeletError(thrown) });
        return EMPTY;
      }),
    );
    return concat(
      read$,
      defer(() => of(found)),
    );
  });
}
