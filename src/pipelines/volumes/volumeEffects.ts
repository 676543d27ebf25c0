/**
 * Sets up and tears down a volume on the node. Both are idempotent: after an interruption at any step they can be
 * repeated. Stateless. Upstream: SetUpAt and TearDownAt of the volume plugins.
 */
import { concat, EMPTY, ignoreElements, type Observable, switchMap, throwError } from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import { mountAt, seenBelow } from "../../core/mount/mountInfo.ts";
import { hostPathStep } from "../../core/volume/hostPathStep.ts";
import { mountStep } from "../../core/volume/mountStep.ts";
import { localSource } from "../../core/volume/volumeChecks.ts";
import type { BoundVolume, VolumeLayout } from "../../core/volume/volumeLayout.ts";
import { alreadyMounted, type VolumeNotice } from "../../core/volume/volumeNotices.ts";
import type { Payload } from "../../core/volume/payloadFile.ts";
import { inSequence } from "../../operators/inSequence.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import { mountDevice } from "./deviceMounts.ts";
import type { DeviceTurns } from "./deviceTurns.ts";
import { setUpLocalDevice } from "./localDevices.ts";
import { giveAway, setReady } from "./volumeOwnership.ts";
import { type RemovalPorts, removeRarelyMounted, removeUnmounted, unmountBelow } from "./removeUnmounted.ts";

export type VolumePorts = RemovalPorts & Pick<KubeletPorts, "volumeFiles" | "quotas" | "clock">;

/** Every user in the pod may use the volume; the mode of the pod's directory excludes all other users. */
const SHARED_MODE = 0o777;
const PRIVATE_MODE = 0o750;
const HOST_DIRECTORY_MODE = 0o755;
const HOST_FILE_MODE = 0o644;
const NESTED_MODE = 0o755;

/**
 * Sets up the volume and writes `payload` to it, if there is one. Emits the notices for its pod. Errors: KubeletError,
 * without undoing the completed steps.
 */
export function setUpVolume(
  ports: VolumePorts,
  layout: VolumeLayout,
  payload: Payload | undefined,
  turns: DeviceTurns,
): Observable<VolumeNotice> {
  const { path, ownership, bound, block, nested = [] } = layout;
  if (layout.fault !== undefined) return throwError(() => layout.fault);
  if (block !== undefined) return turns.run(block.mapDir, setUpLocalDevice(ports, layout.name, block));
  const before: readonly (() => Observable<unknown>)[] = [
    () => (layout.wanted ? provideHostPath(ports, path, layout.wanted) : EMPTY),
    () => (layout.readyDir === undefined ? EMPTY : forgetGone(ports, path, layout.readyDir)),
    () => (layout.isOwnDirectory ? makeOwn(ports, layout) : EMPTY),
  ];
  const after: readonly (() => Observable<unknown>)[] = [
    ...nested.map((name) => () => ports.files.makeDirectory(`${path}/${name}`, NESTED_MODE)),
    () => (layout.hasQuota === true && ports.quotas !== undefined ? ports.quotas.assign(path) : EMPTY),
    () => (payload === undefined ? EMPTY : ports.volumeFiles.writeAtomic(path, payload, ownership)),
  ];
  const steps: readonly (() => Observable<VolumeNotice>)[] = [
    ...before.map(silently),
    () => (bound === undefined ? mountOnce(ports, layout) : bindLocal(ports, layout, bound, turns)),
    ...after.map(silently),
    () => (payload === undefined ? giveAway(ports, layout) : EMPTY),
  ];
  return inSequence(steps, (step) => step());
}

/** Returns the step without its emissions. */
const silently = (step: () => Observable<unknown>) => (): Observable<never> => {
  const made$ = step();
  return made$ === EMPTY ? EMPTY : made$.pipe(ignoreElements());
};

/** Creates the directory of the plugin's volumes of the pod, closed to other users, and in it that of the volume. */
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
          return files.createDirectory(path, HOST_DIRECTORY_MODE);
        case "makeFile":
          return files.createFile(path, HOST_FILE_MODE);
      }
    }),
  );
}

/** Removes the ownership record if the path no longer exists, so that a new directory gets its group. */
const forgetGone = ({ files }: VolumePorts, path: string, readyDir: string): Observable<void> =>
  files.kindOf(path).pipe(switchMap((found) => (found === undefined ? files.remove(readyDir) : EMPTY)));

/** Binds a directory of the node, or the mount of a block device that all pods share. */
function bindLocal(
  ports: VolumePorts,
  layout: VolumeLayout,
  bound: BoundVolume,
  turns: DeviceTurns,
): Observable<VolumeNotice> {
  return ports.files.kindOf(bound.source).pipe(
    switchMap((found) => {
      const source = localSource(bound.source, found);
      if (!source.ok) throw source.error;
      if (source.value === "directory") return mountOnce(ports, layout);
      const shared = { ...layout, bound: { ...bound, source: bound.device.mountPoint } };
      return turns.run(bound.device.mountPoint, mountOnce(ports, shared, mountDevice(ports, bound.device)));
    }),
  );
}

/** Mounts the volume unless it is mounted; `provided$` prepares the source of a bind mount. */
function mountOnce(
  ports: VolumePorts,
  layout: VolumeLayout,
  provided$: Observable<void> = EMPTY,
): Observable<VolumeNotice> {
  const { path, fileSystem, bound, hasContent, readyDir } = layout;
  const { files, mounts } = ports;
  if (fileSystem === undefined && bound === undefined) return EMPTY;
  if (mounts === undefined) {
    // Differs from upstream: a kubelet that may not mount keeps Secrets in the pod's own directory, which is closed to
    // others.
    if (hasContent) return EMPTY;
    return throwError(() => kubeletError("PermissionDenied", "the kubelet may not mount file systems"));
  }
  // A bind also looks for the other binds of its source.
  return mounts.list(bound === undefined ? path : undefined).pipe(
    switchMap((entries) => {
      const step = mountStep(layout, mountAt(entries, path));
      const anew$ = readyDir === undefined ? EMPTY : files.remove(readyDir);
      if (!step.ok) throw step.error;
      switch (step.value.kind) {
        case "nothing":
          return EMPTY;
        case "mount":
          return concat(anew$, mounts.mount({ ...step.value.fileSystem, target: path })).pipe(ignoreElements());
        case "bind": {
          const { source, readOnly, options, podsDir } = step.value.bound;
          const bound$ = mounts.bind({ source, readOnly, options, target: path }).pipe(ignoreElements());
          if (readyDir === undefined) return concat(provided$.pipe(ignoreElements()), bound$);
          return mounts.realPath(source).pipe(
            switchMap((real) => {
              // The ownership of a volume that other pods use stays unchanged, so it counts as set.
              const isTaken = seenBelow(entries, real, podsDir).length > 0;
              return concat(
                concat(provided$, isTaken ? setReady(files, readyDir) : anew$).pipe(ignoreElements()),
                isTaken ? otherGroup(ports, layout, source) : EMPTY,
                bound$,
              );
            }),
          );
        }
        case "makeReadOnly":
          return mounts.makeReadOnly(path).pipe(ignoreElements());
      }
    }),
  );
}

/** Emits a notice if `source` belongs to another group than this pod's fsGroup, which may prevent access. */
function otherGroup(
  { volumeFiles }: VolumePorts,
  { name, ownership }: VolumeLayout,
  source: string,
): Observable<VolumeNotice> {
  if (ownership === undefined) return EMPTY;
  return volumeFiles.groupOf(source).pipe(switchMap((found) => alreadyMounted(name, ownership.fsGroup, found)));
}

/** The parts of a volume to remove. */
export interface VolumeRemains {
  readonly path: string;
  /** Whether to remove `path` itself. */
  readonly isOwnDirectory: boolean;
  /** Directory of the subPaths that are bound for containers. */
  readonly subPaths: string;
}

/**
 * Unmounts and removes the volume; no directory with a mount below it is removed. `released$` releases the resources
 * that the pod shared with others, after the unmount.
 */
export function tearDownVolume(
  ports: RemovalPorts,
  { path, isOwnDirectory, subPaths }: VolumeRemains,
  released$?: Observable<unknown>,
): Observable<never> {
  return concat(
    removeRarelyMounted(ports, subPaths),
    // The volume's directory is removed last: a restarted kubelet finds an unfinished teardown by it.
    released$ === undefined ? EMPTY : concat(unmountBelow(ports, path), released$.pipe(ignoreElements())),
    isOwnDirectory ? removeUnmounted(ports, path) : EMPTY,
  );
}
