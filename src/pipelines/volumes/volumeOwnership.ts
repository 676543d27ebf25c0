/**
 * Gives volumes to the group of their pod, once where that is kept, and tells of those that take long: after 30 s, then
 * each minute. Counterpart: VolumeOwnership of pkg/volume/volume_linux.go.
 */
import {
  concat,
  connect,
  defer,
  EMPTY,
  endWith,
  ignoreElements,
  map,
  merge,
  type Observable,
  repeat,
  switchMap,
  takeUntil,
} from "rxjs";
import type { VolumeLayout } from "../../core/volume/volumeLayout.ts";
import { ownershipProgress, type VolumeNotice } from "../../core/volume/volumeNotices.ts";
import { longTimer } from "../../operators/longTimer.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";

type Ports = Pick<KubeletPorts, "files" | "volumeFiles" | "clock">;

const PRIVATE_MODE = 0o750;
const READY_FILE_MODE = 0o644;
const FIRST_NOTICE_MS = 30_000;
const NEXT_NOTICE_MS = 60_000;

/** Gives the volume to its group; once only where it is kept that this was done. */
export function giveAway(ports: Ports, layout: VolumeLayout): Observable<VolumeNotice> {
  const { ownership, readyDir } = layout;
  if (ownership === undefined) return EMPTY;
  const given$ = give(ports, layout, ownership);
  if (readyDir === undefined) return given$;
  return ports.files
    .kindOf(readyFile(readyDir))
    .pipe(switchMap((found) => (found === undefined ? concat(given$, setReady(ports.files, readyDir)) : EMPTY)));
}

/** Keeps that the volume is its group's. */
export const setReady = (files: Ports["files"], readyDir: string): Observable<never> =>
  concat(files.makeDirectory(readyDir, PRIVATE_MODE), files.writeFile(readyFile(readyDir), "", READY_FILE_MODE)).pipe(
    ignoreElements(),
  );

const readyFile = (readyDir: string): string => `${readyDir}/ready`;

/** Upstream tells of volumes that outlive the pod alone: others are made for it, and small. */
function give(
  { volumeFiles, clock }: Ports,
  { path, bound }: VolumeLayout,
  ownership: NonNullable<VolumeLayout["ownership"]>,
): Observable<VolumeNotice> {
  if (bound === undefined) return volumeFiles.setOwnership(path, ownership).pipe(ignoreElements());
  return defer(() => {
    const directory = path.slice(bound.podsDir.length + 1);
    let seen = 0;
    const notices$ = concat(
      longTimer(clock, FIRST_NOTICE_MS).pipe(map(() => ownershipProgress(directory))),
      longTimer(clock, NEXT_NOTICE_MS).pipe(
        map(() => ownershipProgress(directory, seen)),
        repeat(),
      ),
    );
    const given$ = volumeFiles.setOwnership(path, ownership, (entries) => {
      seen = entries;
    });
    return given$.pipe(
      connect((end$) => merge(end$.pipe(ignoreElements()), notices$.pipe(takeUntil(end$.pipe(endWith(0)))))),
    );
  });
}
