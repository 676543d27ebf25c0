/**
 * Makes one volume on the node, and takes it away again. Both begin from whatever is there and may be repeated after they
 * were cut off anywhere. Keep nothing. Counterparts: SetUpAt and TearDownAt of the volume plugins.
 */
import { concat, EMPTY, ignoreElements, type Observable, switchMap, tap, throwError } from "rxjs";
import { kubeletError } from "../core/errors.ts";
import { type MountEntry, mountAt, seenBelow } from "../core/mount/mountInfo.ts";
import { hostPathStep } from "../core/volume/hostPathStep.ts";
import { mountStep } from "../core/volume/mountStep.ts";
import type { VolumeLayout } from "../core/volume/volumeLayout.ts";
import type { Payload } from "../core/volume/payloadFile.ts";
import { inSequence } from "../operators/inSequence.ts";
import type { Call } from "../ports/call.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { Mounts } from "../ports/mounts.ts";
import { type UnmountOutcome, unmountOrDetach } from "./unmountOrDetach.ts";

/** What taking away needs. */
export type RemovalPorts = Pick<KubeletPorts, "files" | "mounts" | "telemetry">;
export type VolumePorts = RemovalPorts & Pick<KubeletPorts, "volumeFiles">;

/** Everybody in the pod may use it; who may come near it is decided by the pod's own directory. */
const SHARED_MODE = 0o777;
const PRIVATE_MODE = 0o750;
const HOST_DIRECTORY_MODE = 0o755;
const HOST_FILE_MODE = 0o644;
const NESTED_MODE = 0o755;
const READY_FILE_MODE = 0o644;

/** Makes the volume; a volume with content gets `payload`. Errors: KubeletError, and what was made so far stays. */
export function setUpVolume(ports: VolumePorts, layout: VolumeLayout, payload: Payload | undefined): Observable<never> {
  const { path, ownership, nested = [] } = layout;
  const steps: readonly (() => Observable<unknown>)[] = [
    () => (layout.fault === undefined ? EMPTY : throwError(() => layout.fault)),
    () => (layout.wanted ? provideHostPath(ports, path, layout.wanted) : EMPTY),
    () => (layout.readyDir === undefined ? EMPTY : forgetGone(ports, path, layout.readyDir)),
    () => (layout.isOwnDirectory ? makeOwn(ports, layout) : EMPTY),
    () => mountOnce(ports, layout),
    ...nested.map((name) => () => ports.files.makeDirectory(`${path}/${name}`, NESTED_MODE)),
    () => (payload === undefined ? EMPTY : ports.volumeFiles.writeAtomic(path, payload, ownership)),
    () => (payload === undefined ? giveAway(ports, layout) : EMPTY),
  ];
  return inSequence(steps, (step) => step()).pipe(ignoreElements());
}

/** Nobody but root looks into the directory of all volumes of a pod, whatever the modes in it. */
const makeOwn = ({ files }: VolumePorts, layout: VolumeLayout): Observable<void> =>
  concat(
    files.makeDirectory(layout.path.split("/").slice(0, -2).join("/"), PRIVATE_MODE),
    files.makeDirectory(layout.path, modeOf(layout)),
  );

const modeOf = ({ hasContent, fileSystem, bound }: VolumeLayout): number =>
  hasContent || (bound === undefined && fileSystem?.fsType !== "nfs") ? SHARED_MODE : PRIVATE_MODE;

function provideHostPath({ files }: VolumePorts, path: string, wanted: string): Observable<void> {
  return files.kindOf(path).pipe(
    switchMap((found) => {
      const step = hostPathStep(path, wanted, found);
      if (!step.ok) throw step.error;
      switch (step.value) {
        case "nothing":
          return EMPTY;
        case "makeDirectory":
          return files.makeDirectory(path, HOST_DIRECTORY_MODE);
        case "makeFile":
          return files.writeFile(path, "", HOST_FILE_MODE);
      }
    }),
  );
}

/** What is not there any more was given to nobody. */
const forgetGone = ({ files }: VolumePorts, path: string, readyDir: string): Observable<void> =>
  files.kindOf(path).pipe(switchMap((found) => (found === undefined ? files.remove(readyDir) : EMPTY)));

/** Gives the volume to its group; once only where it is kept that this was done. */
function giveAway(
  { files, volumeFiles }: VolumePorts,
  { path, ownership, readyDir }: VolumeLayout,
): Observable<unknown> {
  if (ownership === undefined) return EMPTY;
  const given$ = volumeFiles.setOwnership(path, ownership);
  if (readyDir === undefined) return given$;
  return files
    .kindOf(readyFile(readyDir))
    .pipe(switchMap((found) => (found === undefined ? concat(given$, setReady(files, readyDir)) : EMPTY)));
}

const readyFile = (readyDir: string): string => `${readyDir}/ready`;

const setReady = (files: VolumePorts["files"], readyDir: string): Observable<void> =>
  concat(files.makeDirectory(readyDir, PRIVATE_MODE), files.writeFile(readyFile(readyDir), "", READY_FILE_MODE));

function mountOnce({ files, mounts }: VolumePorts, layout: VolumeLayout): Observable<void> {
  const { path, fileSystem, bound, hasContent, readyDir } = layout;
  if (fileSystem === undefined && bound === undefined) return EMPTY;
  if (mounts === undefined) {
    // Differs from upstream: a kubelet that may not mount keeps Secrets in the pod's own directory, which is closed to others.
    if (hasContent) return EMPTY;
    return throwError(() => kubeletError("PermissionDenied", "the kubelet may not mount file systems"));
  }
  return mounts.list().pipe(
    switchMap((entries) => {
      const step = mountStep(layout, mountAt(entries, path));
      const anew$ = readyDir === undefined ? EMPTY : files.remove(readyDir);
      if (!step.ok) throw step.error;
      switch (step.value.kind) {
        case "nothing":
          return EMPTY;
        case "mount":
          return concat(anew$, mounts.mount({ ...step.value.fileSystem, target: path }));
        case "bind": {
          const { source, readOnly, podsDir } = step.value.bound;
          // As long as other pods have it, it is their group's.
          const isTaken = readyDir !== undefined && seenBelow(entries, source, podsDir).length > 0;
          return concat(isTaken ? setReady(files, readyDir) : anew$, mounts.bind({ source, readOnly, target: path }));
        }
        case "makeReadOnly":
          return mounts.makeReadOnly(path);
      }
    }),
  );
}

/** What of a volume is to go. */
export interface VolumeRemains {
  readonly path: string;
  /** Whether `path` itself goes. */
  readonly isOwnDirectory: boolean;
  /** Where parts of it are bound for containers. */
  readonly subPaths: string;
}

/** Takes everything away, what was mounted first of all; nothing is removed while something is mounted there. */
export function tearDownVolume(
  ports: RemovalPorts,
  { path, isOwnDirectory, subPaths }: VolumeRemains,
): Observable<never> {
  const steps = [subPaths, ...(isOwnDirectory ? [path] : [])].map((place) => () => removeUnmounted(ports, place));
  return inSequence(steps, (step) => step());
}

/** Removes a tree once nothing is mounted in it any more. Errors while something is. */
export const removeUnmounted = (ports: RemovalPorts, place: string): Observable<never> =>
  concat(unmountBelow(ports, place), ports.files.remove(place).pipe(ignoreElements()));

/** Unmounts everything at a path and below, the last mount first. */
function unmountBelow({ mounts, telemetry }: RemovalPorts, place: string): Observable<never> {
  if (mounts === undefined) return EMPTY;
  const isThere = ({ mountPoint }: MountEntry): boolean => mountPoint === place || mountPoint.startsWith(`${place}/`);
  return mounts.list().pipe(
    switchMap((entries) =>
      inSequence(entries.filter(isThere).toReversed(), ({ mountPoint }) => unmount(mounts, mountPoint, telemetry)),
    ),
    ignoreElements(),
  );
}

/** A server that does not answer keeps nobody waiting: the mount is detached, and goes when it can. */
const unmount = (mounts: Mounts, path: string, { log }: RemovalPorts["telemetry"]): Call<UnmountOutcome> =>
  unmountOrDetach(mounts, path).pipe(
    tap((outcome) => {
      if (outcome.kind === "unmounted") log.debug("Unmounted", { path });
      else log.warn("Unmounting takes too long: the mount is detached", { path, error: outcome.stuck });
    }),
  );
