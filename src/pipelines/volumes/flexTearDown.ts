/**
 * Tears a flexVolume of a pod down, and that of the node after its last pod has gone. Works from the paths alone, so also
 * for volumes of an earlier kubelet. Nothing below a mount point is deleted, whatever the driver said. Stateless. Upstream:
 * unmounter.go and detacher.go of pkg/volume/flexvolume.
 *
 *     pod's volume    [unmount]-[remove directory]
 *     last of them                                [unmountdevice]-[detach]
 */
import { concat, defer, EMPTY, ignoreElements, map, type Observable, of, switchMap } from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import { flexVolumeName } from "../../core/flex/flexLayout.ts";
import { flexDeviceMount, type PathRoots } from "../../core/paths.ts";
import { removeEmpty } from "./csiRemains.ts";
import { holderOf, type KeptFlex } from "./heldVolumes.ts";
import { callFlex, type FlexContext, isMounted, knownDriver } from "./flexVolumes.ts";
import { type RemovalPorts, removeRarelyMounted, unmountBelow } from "./removeUnmounted.ts";

/** A flexVolume on disk. */
export interface FlexRemains {
  readonly uid: string;
  /** Name of its driver. */
  readonly plugin: string;
  readonly name: string;
  readonly path: string;
  /** Directory of the subPaths that are bound for containers. */
  readonly subPaths: string;
}

/** Completes when nothing of the volume is left. Errors: KubeletError, without undoing completed steps. */
export function tearDownFlex(ports: RemovalPorts, context: FlexContext, remains: FlexRemains): Observable<never> {
  const { uid, name, path, subPaths } = remains;
  const holder = holderOf(uid, name);
  const held = context.heldVolumes.of(holder);
  const gone$ = concat(
    removeRarelyMounted(ports, subPaths),
    unmount(ports, context, remains),
    removeEmpty(ports, path, path),
    defer(() => {
      context.heldVolumes.leave(holder, { kind: "flex", driver: remains.plugin, name });
      return EMPTY;
    }),
  );
  return held === undefined ? gone$ : held.volume.turns.run(gone$);
}

/** Lets the driver unmount the volume, unless it never had it. */
function unmount(ports: RemovalPorts, context: FlexContext, remains: FlexRemains): Observable<never> {
  const { plugin, name, path } = remains;
  const unmounted$ = defer(() => {
    knownDriver(context, plugin, name);
    return callFlex(context, plugin, ["unmount", path]);
  }).pipe(switchMap((done) => (done === undefined ? unmountBelow(ports, path) : EMPTY)));
  // Before the pod's own mount is gone, the volume of the node must stay.
  const checked$ = isMounted(ports, path).pipe(
    switchMap((isThere): Observable<never> => {
      if (!isThere) return EMPTY;
      throw kubeletError("Io", `the flexVolume driver ${plugin} has left a mount at ${path}`);
    }),
  );
  return isUsed(ports, path).pipe(switchMap((used) => (used ? concat(unmounted$, checked$) : EMPTY)));
}

/** Emits whether a driver may have something at the path: a mount, a file, or something instead of the directory. */
const isUsed = (ports: RemovalPorts, path: string): Observable<boolean> =>
  ports.files.kindOf(path).pipe(
    switchMap((kind): Observable<boolean> => {
      if (kind !== "Directory") return of(kind !== undefined);
      return isMounted(ports, path).pipe(
        switchMap((isThere) => (isThere ? of(true) : ports.files.list(path).pipe(map(({ length }) => length > 0)))),
      );
    }),
  );

/** Unmounts a volume that no pod has for the node, and detaches it. Errors: KubeletError, without undoing completed steps. */
export function unstageFlex(
  ports: RemovalPorts,
  context: FlexContext,
  directories: Pick<PathRoots, "rootDir">,
  { driver: plugin, name }: Pick<KeptFlex, "driver" | "name">,
): Observable<never> {
  const mountPoint = flexDeviceMount(directories, plugin, name);
  const unmounted$ = isMounted(ports, mountPoint).pipe(
    switchMap((isThere) => (isThere ? callFlex(context, plugin, ["unmountdevice", mountPoint]) : EMPTY)),
    switchMap((done) => (done === undefined ? unmountBelow(ports, mountPoint) : EMPTY)),
  );
  const detached$ = defer(() =>
    context.isAttachedByController ? EMPTY : callFlex(context, plugin, ["detach", name, context.nodeName]),
  ).pipe(ignoreElements());
  return ports.files.kindOf(mountPoint).pipe(
    switchMap((kind) => {
      if (kind === undefined) return EMPTY;
      knownDriver(context, plugin, name);
      return concat(unmounted$, detached$, removeEmpty(ports, mountPoint, mountPoint));
    }),
  );
}

/** Returns the flexVolumes among volumes on disk, as `restoreFlex` needs them. */
export const flexOnDisk = (
  found: readonly { readonly uid: string; readonly plugin: string; readonly name: string }[],
  directories: Pick<PathRoots, "rootDir">,
): readonly { readonly holder: string; readonly volumeName: string; readonly mountPoint: string }[] =>
  found.map(({ uid, plugin, name }) => ({
    holder: holderOf(uid, name),
    volumeName: flexVolumeName(plugin, name),
    mountPoint: flexDeviceMount(directories, plugin, name),
  }));
