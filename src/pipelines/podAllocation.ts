/**
 * The allocation of a pod, over the worker's life and on disk: noted when a command brings another one, written before
 * anything is done about it. One small file in the pod's directory, gone with it.
 */
import { catchError, concat, defer, EMPTY, ignoreElements, type Observable, tap } from "rxjs";
import { sizesOf } from "../core/allocation/actualSizes.ts";
import { encodeAllocation } from "../core/allocation/allocationFile.ts";
import { allocationOf, sameAllocation } from "../core/allocation/podAllocation.ts";
import type { Pod } from "../core/api.ts";
import { type KubeletError, toKubeletError } from "../core/errors.ts";
import { podAllocationPath, podDir } from "../core/paths.ts";
import type { PodCommand } from "../core/pod/podRegistry.ts";
import type { PodContext } from "./podContext.ts";
import type { PodMemory } from "./podMemory.ts";

const ALLOCATION_MODE = 0o600;

/** Takes notice of the allocation a command brings: another one than before is a resize to carry out. */
export function noteAllocation(memory: PodMemory, command: PodCommand): void {
  if (command.phase !== "sync") return;
  const { pod, restoredSize } = command;
  const known = memory.allocated && allocationOf(memory.allocated);
  if (known === undefined) {
    memory.sizes = sizesOf(restoredSize ?? allocationOf(pod));
    memory.reportAwaited = restoredSize !== undefined;
  }
  memory.allocated = pod;
  const before = known ?? restoredSize ?? allocationOf(pod);
  if (!sameAllocation(before, allocationOf(pod))) memory.resizing.set({ generation: pod.metadata.generation });
}

/** Writes the allocation if the file has another one. What goes wrong is added to `errors`. */
export function keepAllocation({ memory, ports, config }: PodContext, pod: Pod, errors: KubeletError[]) {
  return defer((): Observable<never> => {
    const text = encodeAllocation({ allocation: allocationOf(pod), resizing: memory.resizing.value !== undefined });
    if (text === memory.checkpoint) return EMPTY;
    const { uid } = pod.metadata;
    return concat(
      ports.files.makeDirectory(podDir(config.directories, uid), 0o750),
      ports.files.replaceFile(podAllocationPath(config.directories, uid), text, ALLOCATION_MODE),
    ).pipe(
      tap({
        complete: () => {
          memory.checkpoint = text;
        },
      }),
      ignoreElements(),
      catchError((thrown: unknown) => {
        errors.push(toKubeletError(thrown));
        return EMPTY;
      }),
    );
  });
}
