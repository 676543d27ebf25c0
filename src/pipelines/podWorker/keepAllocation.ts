/**
 * The allocation of a pod, in the worker's memory and on disk: noted when a command has another one, written before
 * any action uses it. One small file in the pod's directory, removed with it.
 */
import { catchError, concat, defer, EMPTY, filter, ignoreElements, type Observable, of, repeat, tap } from "rxjs";
import { sizesOf } from "../../core/allocation/actualSizes.ts";
import { allocationRecord, encodeAllocation } from "../../core/allocation/allocationFile.ts";
import {
  allocationOf,
  followingSpec,
  type ResizableParts,
  sameAllocation,
} from "../../core/allocation/podAllocation.ts";
import { type KubeletError, toKubeletError } from "../../core/errors.ts";
import { podAllocationPath, podDir } from "../../core/paths.ts";
import type { PodCommand, PodIdentity } from "../../core/pod/podRegistry.ts";
import { conflateMap } from "../../operators/conflateMap.ts";
import { longTimer } from "../../operators/longTimer.ts";
import type { PodContext } from "../podContext.ts";
import type { AllocationMemory } from "../podMemories.ts";
import type { PodOutput } from "../podOutputs.ts";
import { andThen, collectFailures, failed, type RoundOutput } from "./roundFailure.ts";

const ALLOCATION_MODE = 0o600;
/** Delay before a failed write is repeated; a sync may repeat it earlier. */
const WRITE_AGAIN_MS = 10_000;

/** Notes the allocation of a command: a change is a resize to actuate. */
export function noteAllocation(allocation: AllocationMemory, command: PodCommand, parts: ResizableParts): void {
  if (command.phase !== "sync") return;
  const { pod, restoredSize } = command;
  const known = allocation.allocated && allocationOf(allocation.allocated);
  if (known === undefined) {
    allocation.sizes = sizesOf(restoredSize ?? allocationOf(pod));
    allocation.isInherited = restoredSize !== undefined;
    allocation.reportAwaited = allocation.isInherited;
  }
  allocation.allocated = pod;
  allocation.hardware = command.hardware;
  const before = followingSpec(known ?? restoredSize ?? allocationOf(pod), pod, parts);
  if (!sameAllocation(before, allocationOf(pod))) allocation.resizing.set({ generation: pod.metadata.generation });
}

/** Returns whether the file has the newest allocation, no write is in progress, and no resize has to be reported. */
export function isAllocationKept({ memory }: PodContext): boolean {
  const { allocated, hardware, resizing, file, checkpoint } = memory.allocation;
  if (allocated === undefined) return true;
  if (resizing.value !== undefined || file.running > 0) return false;
  return checkpoint === encodeAllocation(allocationRecord(allocated, { resizing: false, hardware }));
}

/**
 * Writes the newest allocation if the file has another one, and reports when a resized one is written. Never errors.
 */
export function keepAllocation(context: PodContext): Observable<RoundOutput> {
  const { memory, ports, config, identity } = context;
  const write = (text: string): Observable<never> =>
    concat(
      ports.files.makeDirectory(podDir(config.directories, identity.uid), 0o750),
      ports.files.replaceFile(
        podAllocationPath(config.directories, identity.uid),
        text,
        ALLOCATION_MODE,
        isNew(context) ? "kubelet" : "machine",
      ),
    ).pipe(
      tap({
        complete: () => {
          memory.allocation.checkpoint = text;
        },
      }),
      ignoreElements(),
    );
  const keep$ = defer((): Observable<PodOutput> => {
    const pod = memory.allocation.allocated;
    if (pod === undefined) return EMPTY;
    const isResizing = memory.allocation.resizing.value !== undefined;
    const { hardware } = memory.allocation;
    const text = encodeAllocation(allocationRecord(pod, { resizing: isResizing, hardware }));
    return concat(
      text === memory.allocation.checkpoint ? EMPTY : write(text),
      defer(() => {
        if (!isResizing || memory.allocation.kept === pod) return EMPTY;
        memory.allocation.kept = pod;
        return of<PodOutput>({ kind: "kept", uid: identity.uid, pod });
      }),
    );
  });
  return memory.allocation.file.run(keep$).pipe(catchError((thrown: unknown) => of(failed(toKubeletError(thrown)))));
}

/**
 * Returns whether the allocation is that of a new pod without hardware: after a crash of the machine a missing file means
 * the same, so that its start does not wait for the disk.
 */
const isNew = ({ memory: { allocation } }: PodContext): boolean => {
  const { isInherited, checkpoint, hardware, resizing } = allocation;
  return !isInherited && checkpoint === undefined && hardware === undefined && resizing.value === undefined;
};

/**
 * Removes the hardware of a pod that has stopped from its file, before another pod may have it: the next kubelet process
 * must not take both files at their word. A disk that is full has no room for the file without it, but lets go of the
 * old one. Never errors.
 */
export const forgetHardware = (context: PodContext): Observable<RoundOutput> =>
  defer(() => {
    const { memory, ports, config, identity } = context;
    const { allocation } = memory;
    if (allocation.allocated === undefined || allocation.hardware === undefined) return EMPTY;
    allocation.hardware = undefined;
    const remove$ = defer(() => ports.files.remove(podAllocationPath(config.directories, identity.uid))).pipe(
      ignoreElements(),
      catchError((thrown: unknown) => of(failed(toKubeletError(thrown)))),
    );
    return keepAllocation(context).pipe(andThen((errors) => (errors.length > 0 ? remove$ : EMPTY)));
  });

/** Writes each new allocation of a running pod at once: the current work of its worker may take long. */
export function keepGrants(
  contextOf: (identity: PodIdentity) => PodContext,
  commands$: Observable<PodCommand>,
): Observable<PodOutput> {
  const keep = (context: PodContext): Observable<PodOutput> => {
    let errors: KubeletError[] = [];
    const write$ = defer(() => keepAllocation(context).pipe(collectFailures((errors = []))));
    const delay = (): Observable<unknown> =>
      errors.length === 0 ? EMPTY : longTimer(context.ports.clock, WRITE_AGAIN_MS);
    return write$.pipe(repeat({ delay }));
  };
  return commands$.pipe(
    filter(({ identity }) => {
      const { resizing, kept, allocated } = contextOf(identity).memory.allocation;
      return resizing.value !== undefined && kept !== allocated;
    }),
    conflateMap(({ identity }) => keep(contextOf(identity))),
  );
}
