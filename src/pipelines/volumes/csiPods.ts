/** Restores the CSI volumes on disk into heldVolumes.ts at start, and tears down those of pods that went meanwhile. */
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
import { csiBlockPlaces } from "../../core/csi/csiBlockPlaces.ts";
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
import { type BlockTearDownDeps, tearDownBlock } from "./blockTearDown.ts";
import { restoreStages } from "./csiStages.ts";
import { holderOf } from "./heldVolumes.ts";
import { tearDownCsi } from "./csiTearDown.ts";
import type { CsiContext } from "./csiContext.ts";
import type { RemovalPorts } from "./removeUnmounted.ts";

const csiOf = (volumes: PodVolumes | undefined): readonly ActualVolume[] =>
  [...(volumes?.actual.values() ?? [])].filter(({ plugin }) => plugin === CSI_PLUGIN);

/** Notes the volumes on disk, which stay in use until they are torn down. Never errors. */
export function restoreCsi(
  ports: RemovalPorts,
  { heldVolumes }: Pick<CsiContext, "heldVolumes">,
  volumes: ReadonlyKeyedCell<PodUid, PodVolumes>,
  directories: Pick<PathRoots, "rootDir">,
): Observable<never> {
  const found = volumes
    .keys()
    .flatMap((uid) => csiOf(volumes.get(uid)).map(({ name, path, isBlock }) => ({ uid, name, path, isBlock })));
  const restored$ = inSequence(found, ({ uid, name, path, isBlock }) =>
    readVolData(ports, isBlock === true ? csiBlockPlaces(directories, uid, name).dataDir : path).pipe(
      tap((data) => {
        if (data?.ok !== true || !data.value.isPersistent) return;
        const holder = holderOf(uid, name);
        const volume = heldVolumes.hold(csiVolumeName(data.value.driver, data.value.handle), holder, true);
        volume.isFound = true;
        volume.users.add(holder);
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
    // After the volumes of pods: only stages without a pod are kept.
    restoreStages(ports, { heldVolumes }, directories),
    defer(() => {
      heldVolumes.loaded();
      return EMPTY;
    }),
  );
}

/**
 * Tears down the CSI and block volumes of a pod that nothing needs. Errors: the KubeletError of the first that stays.
 */
export function unpublishPod(
  ports: RemovalPorts,
  deps: BlockTearDownDeps,
  uid: PodUid,
  volumes: PodVolumes | undefined,
): Observable<never> {
  const { csi, rootDir } = deps;
  const blocks = [...(volumes?.actual.values() ?? [])].filter(({ isBlock }) => isBlock === true);
  const mounted = csi === undefined ? [] : csiOf(volumes).filter(({ isBlock }) => isBlock !== true);
  return concat(
    inSequence(blocks, ({ plugin, name }) => tearDownBlock(ports, deps, { uid, plugin, name })),
    inSequence(mounted, ({ name, path }) => {
      const subPaths = `${podVolumeSubpathsDir({ rootDir }, uid)}/${name}`;
      const remains = { uid, name, directory: path, subPaths };
      return csi === undefined ? EMPTY : tearDownCsi(ports, csi, remains);
    }),
  );
}

/** Emits when the volume may proceed: it is attached, its driver has registered, or other pods have unmounted it. */
export function csiNews(
  context: CsiContext | undefined,
  layout: () => VolumeLayout | undefined,
  key: string,
): Observable<unknown> {
  if (context === undefined || !key.startsWith(`${CSI_PLUGIN}/`)) return EMPTY;
  const { node, drivers, heldVolumes } = context;
  const news$ = merge(node.changes$, drivers.changes$).pipe(
    map(() => {
      const csi = layout()?.csi;
      return csi === undefined ? [] : [attachmentWait(csi, node.value), drivers.value.get(csi.driver)];
    }),
    distinctUntilChanged(sameItems),
    skip(1),
  );
  return merge(news$, heldVolumes.unmounted$);
}
