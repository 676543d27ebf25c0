/**
 * Grows the file system of a flexVolume by its driver; without such a call of the driver, by the tools of the node. The
 * controller has expanded the volume before. Stateless. Bound: the deadline of the call. Upstream: NodeExpand of
 * pkg/volume/flexvolume/expander.go and its defaults.
 */
import { defer, ignoreElements, map, type Observable, of, switchMap } from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import { type FlexLayout, flexOptions } from "../../core/flex/flexLayout.ts";
import { mountAt } from "../../core/mount/mountInfo.ts";
import { sizeBytes, type VolumeCapacity } from "../../core/volume/volumeExpansion.ts";
import type { VolumeLayout } from "../../core/volume/volumeLayout.ts";
import { callFlex, type FlexContext, type FlexVolume } from "./flexVolumes.ts";
import type { VolumePorts } from "./volumeEffects.ts";

/** Returns whether the node has a part in expansions of the volume: some drivers leave it none. */
export const isGrownHere = ({ flex }: VolumeLayout, context: Pick<FlexContext, "drivers"> | undefined): boolean =>
  flex === undefined || context?.drivers.value.get(flex.driver)?.capabilities.requiresFSResize === true;

/** Completes when the file system has grown. Errors: KubeletError. */
export function growFlex(
  ports: VolumePorts,
  context: FlexContext,
  { flex, path }: FlexVolume["layout"],
  { size, claimed }: VolumeCapacity,
): Observable<never> {
  const { mounts } = ports;
  return defer(() => deviceOf(ports, context, flex)).pipe(
    switchMap((device) =>
      callFlex(context, flex.driver, [
        ...(["expandfs", flexOptions(flex), device, path] as const),
        ...[sizeBytes(size), sizeBytes(claimed)].map(String),
      ]).pipe(
        switchMap((done): Observable<unknown> => {
          if (done !== undefined || mounts === undefined) return of(done);
          if (device !== "") return mounts.growFileSystem({ device, mountPoint: path });
          throw kubeletError("Unimplemented", `the flexVolume driver ${flex.driver} has no expandfs, and no device`);
        }),
      ),
    ),
    ignoreElements(),
  );
}

/** Emits the device that is mounted for the node, else that of its attachment; empty: the volume has none. */
function deviceOf({ mounts }: VolumePorts, { node }: FlexContext, flex: FlexLayout): Observable<string> {
  const attached = node.value?.status?.volumesAttached?.find(({ name }) => name === flex.volumeName)?.devicePath ?? "";
  return (
    mounts?.list().pipe(
      map((entries) => {
        const source = mountAt(entries, flex.mountPoint)?.source ?? "";
        return source.startsWith("/dev/") ? source : attached;
      }),
    ) ?? of(attached)
  );
}
