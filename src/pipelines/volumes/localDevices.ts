/**
 * Local volumes that containers get as block devices. Stateless: the directories of the volume have its users. Upstream:
 * localVolumeMapper of pkg/volume/local.
 */
import { catchError, concat, defer, EMPTY, ignoreElements, type Observable, switchMap } from "rxjs";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import type { BlockLayout, BlockPlaces } from "../../core/volume/blockVolume.ts";
import { failedAt } from "../../core/volume/volumeChecks.ts";
import type { VolumeNotice } from "../../core/volume/volumeNotices.ts";
import { linkDevice, mapDevice, removeEmptyDirectory, unmapDevice } from "./blockMaps.ts";
import type { RemovalPorts } from "./removeUnmounted.ts";

/**
 * Sets the volume up. Differs from upstream: a path that is no block device is refused before anything is made of it.
 * Errors: SetUpError.
 */
export function setUpLocalDevice(ports: RemovalPorts, name: string, block: BlockLayout): Observable<VolumeNotice> {
  const { device, link } = block;
  const checked$ = ports.files.kindOf(device).pipe(
    switchMap((kind): Observable<never> => {
      if (kind === "BlockDevice") return EMPTY;
      throw kind === undefined
        ? kubeletError("NotFound", `path "${device}" does not exist`)
        : kubeletError("InvalidArgument", `path "${device}" is not a block device`);
    }),
    catchError((thrown: unknown): Observable<never> => {
      throw failedAt("MapPodDevice", toKubeletError(thrown));
    }),
  );
  return concat(checked$, linkDevice(ports, link, device), mapDevice(ports, name, block));
}

/** Releases the device, and the directory of the volume after its last pod. Errors: KubeletError. */
export function tearDownLocalDevice(ports: RemovalPorts, places: BlockPlaces): Observable<never> {
  const { files } = ports;
  const isLast$ = defer(() => files.list(places.mapDir)).pipe(
    switchMap((names) => (names.length > 0 ? EMPTY : removeEmptyDirectory(ports, places.mapDir))),
  );
  return concat(
    unmapDevice(ports, places),
    isLast$,
    defer(() => files.remove(places.link)),
  ).pipe(ignoreElements());
}
