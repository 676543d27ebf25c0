/** CSI volumes of pods across lives of the kubelet: those on disk at start, those of pods that went meanwhile. Stateless. */
import {
  catchError,
  concat,
  defer,
  distinctUntilChanged,
  EMPTY,
  ignoreElements,
  map,
  merge,
  type Observable,
  skip,
  tap,
} from "rxjs";
import { attachmentWait } from "../../core/csi/attachmentWait.ts";
import { CSI_PLUGIN, csiVolumeName } from "../../core/csi/csiLayout.ts";
import { toKubeletError } from "../../core/errors.ts";
import type { PodUid } from "../../core/ids.ts";
import { type PathRoots, podVolumeSubpathsDir } from "../../core/paths.ts";
import { sameItems } from "../../core/sameValue.ts";
import type { PodVolumes } from "../../core/volume/podVolumes.ts";
import type { VolumeLayout } from "../../core/volume/volumeLayout.ts";
import type { ActualVolume } from "../../core/volume/volumePlan.ts";
import { inSequence } from "../../operators/inSequence.ts";
import type { ReadonlyKeyedCell } from "../../state/keyedCell.ts";
import { readVolData } from "./csiRemains.ts";
import { holderOf } from "./csiStages.ts";
import { tearDownCsi } from "./csiTearDown.ts";
import type { CsiContext } from "./csiVolumes.ts";
import type { RemovalPorts } from "./removeUnmounted.ts";

const csiOf = (volumes: PodVolumes | undefined): readonly ActualVolume[] =>
  [...(volumes?.actual.values() ?? [])].filter(({ plugin }) => plugin === CSI_PLUGIN);

/** Notes the volumes on disk, which stay in use until they are torn down. Never errors. */
export function restoreCsi(
  ports: RemovalPorts,
  { stages }: CsiContext,
  volumes: ReadonlyKeyedCell<PodUid, PodVolumes>,
): Observable<never> {
  const found = volumes.keys().flatMap((uid) => csiOf(volumes.get(uid)).map(({ name, path }) => ({ uid, name, path })));
  const restored$ = inSequence(found, ({ uid, name, path }) =>
    readVolData(ports, path).pipe(
      tap((data) => {
        if (data?.ok !== true || !data.value.isPersistent) return;
        stages.hold(csiVolumeName(data.value.driver, data.value.handle), holderOf(uid, name), true);
      }),
      ignoreElements(),
      catchError((thrown: unknown) => {
        ports.telemetry.log.warn("Cannot read a file of an earlier kubelet", { path, error: toKubeletError(thrown) });
        return EMPTY;
      }),
    ),
  );
  return concat(
    restored$,
    defer(() => {
      stages.loaded();
      return EMPTY;
    }),
  );
}

/** Tears down the CSI volumes of a pod that nothing needs. Errors: the KubeletError of the first that stays. */
export function unpublishPod(
  ports: RemovalPorts,
  context: CsiContext,
  uid: PodUid,
  volumes: PodVolumes | undefined,
  directories: Pick<PathRoots, "rootDir">,
): Observable<never> {
  return inSequence(csiOf(volumes), ({ name, path }) => {
    const subPaths = `${podVolumeSubpathsDir(directories, uid)}/${name}`;
    return tearDownCsi(ports, context, { uid, name, directory: path, subPaths, directories });
  });
}

/** Emits when the volume may proceed: it is attached, or its driver has registered. */
export function csiNews(
  context: CsiContext | undefined,
  layout: () => VolumeLayout | undefined,
  key: string,
): Observable<unknown> {
  if (context === undefined || !key.startsWith(`${CSI_PLUGIN}/`)) return EMPTY;
  const { node, drivers } = context;
  return merge(node.changes$, drivers.changes$).pipe(
    map(() => {
      const csi = layout()?.csi;
      return csi === undefined ? [] : [attachmentWait(csi, node.value), drivers.value.get(csi.driver)];
    }),
    distinctUntilChanged(sameItems),
    skip(1),
  );
}
