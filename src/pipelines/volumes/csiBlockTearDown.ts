/**
 * Tears a CSI block volume of a pod down: unpublishes it. Works from `vol_data.json` alone. The volume of the node is unstaged
 * after its last pod has gone (csiUnstage.ts). Stateless. Upstream: UnmapPodDevice of csi_block.go.
 *
 *     [unmap]-[unpublish]-[remove what is left]-[remove link]
 */
import { concat, defer, EMPTY, ignoreElements, type Observable, switchMap } from "rxjs";
import { csiBlockPlaces } from "../../core/csi/csiBlockPlaces.ts";
import type { PathRoots } from "../../core/paths.ts";
import { unmapDevice } from "./blockMaps.ts";
import { readVolData, refuseMountedAt, removePublished } from "./csiRemains.ts";
import { holderOf } from "./heldVolumes.ts";
import { type CsiRemains, heldBy, leave, unpublish } from "./csiTearDown.ts";
import type { CsiContext } from "./csiContext.ts";
import type { RemovalPorts } from "./removeUnmounted.ts";

/** Completes when the pod has nothing of the volume left. Errors: KubeletError, without undoing completed steps. */
export function tearDownCsiBlock(
  ports: RemovalPorts,
  context: CsiContext,
  { uid, name, directories }: Pick<CsiRemains, "uid" | "name"> & { readonly directories: Pick<PathRoots, "rootDir"> },
): Observable<never> {
  const { heldVolumes } = context;
  const holder = holderOf(uid, name);
  const places = csiBlockPlaces(directories, uid, name);
  return readVolData(ports, places.dataDir).pipe(
    switchMap((read) => {
      const data = read?.ok === true ? read.value : undefined;
      // Without a readable file, the driver is unknown: its device stays.
      const known$ = read?.ok === false ? refuseMountedAt(ports, places.publish) : EMPTY;
      const held = heldVolumes.of(holder) ?? heldBy(heldVolumes, holder, data);
      const gone$ = concat(
        known$,
        unmapDevice(ports, places),
        data === undefined ? EMPTY : unpublish(context, data, places.publish),
        // Differs from upstream: what the driver has left at the pod's path would be forgotten with the pod.
        defer(() => removePublished(ports, places.publish)),
        ports.files.remove(places.link).pipe(ignoreElements()),
        leave(heldVolumes, holder, held, name),
      ).pipe(ignoreElements());
      return held === undefined ? gone$ : held.volume.turns.run(gone$);
    }),
  );
}
