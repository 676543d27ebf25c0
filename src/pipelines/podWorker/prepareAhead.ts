/**
 * Prepares the first container of a pod beside the creation of its sandbox, which takes most of a pod's start: the
 * container's directories, and a look at its image. Failures are left to the start of the container, which repeats
 * what is missing and reports it.
 */
import { EMPTY, ignoreElements, merge, type Observable, tap } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { findContainer } from "../../core/pod/containers.ts";
import { startsOf } from "../../core/pod/podActions.ts";
import type { PodActions } from "../../core/pod/podActionsTypes.ts";
import type { Image } from "../../gen/cri.ts";
import type { PodContext } from "../podContext.ts";
import { makeContainerDirectories } from "./containerFiles.ts";

/** A pod whose sandbox is being made. */
export interface AheadTask {
  readonly context: PodContext;
  readonly pod: Pod;
  readonly actions: PodActions;
  /** Called with the image of a container if the runtime has it. */
  readonly found: (container: string, image: Image) => void;
}

/** Prepares the first container; never emits or errors. Cancels: a look that has no answer yet. */
export function prepareAhead({ context, pod, actions, found }: AheadTask): Observable<never> {
  const [first] = startsOf(actions);
  const container = first && findContainer(pod.spec, first.name);
  if (container === undefined) return EMPTY;
  const looked$ = context.images.look({ pod, container }).pipe(
    tap((image) => {
      if (image !== undefined) found(container.name, image);
    }),
  );
  return merge(makeContainerDirectories(context, { pod, container }), looked$).pipe(ignoreElements());
}
