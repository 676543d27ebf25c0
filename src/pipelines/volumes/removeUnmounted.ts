/** Unmounts everything in a tree, then removes the tree. Stateless. Upstream: mount.CleanupMountPoint. */
import { concat, ignoreElements, type Observable, switchMap, tap, EMPTY } from "rxjs";
import { isAtOrBelow } from "../../core/mount/mountInfo.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { orElse } from "../../operators/orElse.ts";
import type { Call } from "../../ports/call.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Mounts } from "../../ports/mounts.ts";
import { type UnmountOutcome, unmountOrDetach } from "./unmountOrDetach.ts";

/** Ports of removal. */
export type RemovalPorts = Pick<KubeletPorts, "files" | "mounts" | "telemetry">;

/** Removes a tree without mounts. Errors while there are mounts in it. */
export const removeUnmounted = (ports: RemovalPorts, place: string): Observable<never> =>
  concat(unmountBelow(ports, place), ports.files.remove(place).pipe(ignoreElements()));

/**
 * Removes a tree that rarely has mounts, or rarely is there. Looks for mounts only after a removal was refused, which removes
 * nothing where there is one. Errors while there are mounts in it.
 */
export const removeRarelyMounted = (ports: RemovalPorts, place: string): Observable<never> =>
  ports.files.remove(place).pipe(
    ignoreElements(),
    orElse(() => removeUnmounted(ports, place)),
  );

/** Unmounts everything at a path and below, the last mount first. */
export function unmountBelow({ mounts, telemetry }: RemovalPorts, place: string): Observable<never> {
  if (mounts === undefined) return EMPTY;
  const isThere = isAtOrBelow(place);
  return mounts.list(place).pipe(
    switchMap((entries) =>
      inSequence(entries.filter(({ mountPoint }) => isThere(mountPoint)).toReversed(), ({ mountPoint }) =>
        unmount(mounts, mountPoint, telemetry),
      ),
    ),
    ignoreElements(),
  );
}

/** Unmounts a path. If the server of the mount does not answer, detaches it, so that no caller waits. */
const unmount = (mounts: Mounts, path: string, { log }: RemovalPorts["telemetry"]): Call<UnmountOutcome> =>
  unmountOrDetach(mounts, path).pipe(
    tap((outcome) => {
      if (outcome.kind === "unmounted") log.debug("removeUnmounted", "Unmounted", { path });
      else log.warn("Unmounting takes too long: the mount is detached", { path, error: outcome.stuck });
    }),
  );
