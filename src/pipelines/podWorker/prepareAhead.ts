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

/** The part of a container's start that was done beside the creation of the sandbox. */
export interface Ahead {
  /** The image, if the runtime had it. */
  image: Image | undefined;
  hasDirectories: boolean;
}

/** Prepares the first container and notes in `done` what it has; never emits or errors. Cancels: calls without an answer. */
export function prepareAhead(
  context: PodContext,
  pod: Pod,
  actions: PodActions,
  done: Map<string, Ahead>,
): Observable<never> {
  const [first] = startsOf(actions);
  const container = first && findContainer(pod.spec, first.name);
  if (container === undefined) return EMPTY;
  const ahead: Ahead = { image: undefined, hasDirectories: false };
  done.set(container.name, ahead);
  const made$ = makeContainerDirectories(context, { pod, container }).pipe(
    tap((made) => {
      ahead.hasDirectories = made.ok;
    }),
  );
  const looked$ = context.images.look({ pod, container }).pipe(
    tap((image) => {
      ahead.image = image;
    }),
  );
  return merge(made$, looked$).pipe(ignoreElements());
}
