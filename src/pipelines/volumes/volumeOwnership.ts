/**
 * Gives volumes to the fsGroup of their pod; sinks/trees/ownershipJob.ts changes files and applies `OnRootMismatch`. A
 * file `ready` below `plugins/` records a writable volume, which is changed only once. A slow change is an event after
 * 30 s, then each minute. Upstream: VolumeOwnership of pkg/volume/volume_linux.go.
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

/** Changes the group of the volume; only once if the volume has a record of the change. */
export function giveAway(ports: Ports, layout: VolumeLayout): Observable<VolumeNotice> {
  const { ownership, readyDir } = layout;
  if (ownership === undefined) return EMPTY;
  const given$ = give(ports, layout, ownership);
  if (readyDir === undefined) return given$;
  return ports.files
    .kindOf(readyFile(readyDir))
    .pipe(switchMap((found) => (found === undefined ? concat(given$, setReady(ports.files, readyDir)) : EMPTY)));
}

/** Records that the group of the volume is set. */
export const setReady = (files: Ports["files"], readyDir: string): Observable<never> =>
  concat(files.makeDirectory(readyDir, PRIVATE_MODE), files.writeFile(readyFile(readyDir), "", READY_FILE_MODE)).pipe(
    ignoreElements(),
  );

const readyFile = (readyDir: string): string => `${readyDir}/ready`;

/** Upstream reports only volumes that outlive the pod: others are created for it, and are small. */
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
