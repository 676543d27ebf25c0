/**
 * Notes with which SELinux labels volumes of pods are mounted from an earlier kubelet: by the options of their mounts, else by
 * `vol_data.json`, which is written before a driver mounts. Stateless. Upstream: GetSELinuxMountContext of pkg/volume/util/hostutil,
 * and ReconstructedVolume of the volume plugins.
 */
import { concat, EMPTY, ignoreElements, map, type Observable, of, switchMap } from "rxjs";
import { CSI_PLUGIN, globalMount, stageDirOf } from "../../core/csi/csiLayout.ts";
import { isDiskPlugin } from "../../core/disk/diskBlock.ts";
import type { PodUid } from "../../core/ids.ts";
import { mountAt, type MountEntry } from "../../core/mount/mountInfo.ts";
import { mountedLabel, NO_LABEL } from "../../core/selinux/fileLabel.ts";
import type { PathRoots } from "../../core/paths.ts";
import type { PodVolumes } from "../../core/volume/podVolumes.ts";
import type { ActualVolume } from "../../core/volume/volumePlan.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { orElse } from "../../operators/orElse.ts";
import type { ReadonlyKeyedCell } from "../../state/keyedCell.ts";
import type { CsiContext } from "./csiContext.ts";
import { readVolData } from "./csiRemains.ts";
import { holderOf, type KeptStage } from "./heldVolumes.ts";
import type { RemovalPorts } from "./removeUnmounted.ts";
import type { VolumeKinds } from "./volumeKinds.ts";
import type { VolumeLabels } from "./volumeLabels.ts";

/** Notes the labels of volumes that `restoreKinds` has found. A volume without a label may get one. Never errors. */
export function restoreLabels(
  ports: RemovalPorts,
  { csi, disks }: Pick<VolumeKinds, "csi" | "disks">,
  labels: Pick<VolumeLabels, "adopt">,
  volumes: ReadonlyKeyedCell<PodUid, PodVolumes>,
  directories: Pick<PathRoots, "rootDir">,
): Observable<never> {
  const { mounts } = ports;
  const found = volumes.keys().flatMap((uid) => {
    const mounted = [...(volumes.get(uid)?.actual.values() ?? [])].filter(({ isBlock }) => isBlock !== true);
    return mounted.filter(({ plugin }) => plugin === CSI_PLUGIN || isDiskPlugin(plugin)).map((each) => ({ uid, each }));
  });
  const kept = csi?.heldVolumes.kept().filter((each) => each.kind === "csi") ?? [];
  if (found.length + kept.length === 0) return EMPTY;
  const entries$ = (mounts?.list() ?? of([])).pipe(orElse(() => of([])));
  return entries$.pipe(
    switchMap((entries) =>
      concat(
        csi === undefined ? EMPTY : inSequence(kept, (stage) => labelStage(ports, csi, stage, directories, entries)),
        inSequence(found, ({ uid, each }) => {
          const holder = holderOf(uid, each.name);
          const heldVolumes = (each.plugin === CSI_PLUGIN ? csi : disks)?.heldVolumes;
          const held = heldVolumes?.of(holder);
          if (heldVolumes === undefined || held === undefined) return EMPTY;
          if (each.plugin !== CSI_PLUGIN) held.volume.users.add(holder);
          return labelAt(ports, each, held.name, entries).pipe(
            map((label) => {
              if (label === undefined) return;
              heldVolumes.mounting(held.volume, holder, label);
              for (const name of held.volume.listedAs) labels.adopt(uid, name, label);
            }),
            ignoreElements(),
          );
        }),
      ),
    ),
  );
}

/** Notes the label of a volume that is staged for no pod; a pod may take it over. */
function labelStage(
  ports: RemovalPorts,
  { heldVolumes }: CsiContext,
  stage: KeptStage,
  directories: Pick<PathRoots, "rootDir">,
  entries: readonly MountEntry[],
): Observable<never> {
  const volume = heldVolumes.keptVolume(stage);
  if (volume === undefined || stage.blockName !== undefined) return EMPTY;
  const path = stageDirOf(directories, stage.driver, stage.handle);
  return labelOf(ports, path, globalMount(path), entries).pipe(
    map((label) => (volume.label = label ?? NO_LABEL)),
    ignoreElements(),
  );
}

/** Emits the label of a volume; `held` is the name of the volume of the node, for a disk its mount point. */
function labelAt(
  ports: RemovalPorts,
  { plugin, path }: Pick<ActualVolume, "plugin" | "path">,
  held: string,
  entries: readonly MountEntry[],
): Observable<string | undefined> {
  if (plugin === CSI_PLUGIN) return labelOf(ports, path, `${path}/mount`, entries);
  const mount = mountAt(entries, held);
  return of(mount && mountedLabel(mount));
}

/** Emits the label of a CSI volume by its mount, else by the record in a directory. */
function labelOf(
  ports: RemovalPorts,
  directory: string,
  mountPoint: string,
  entries: readonly MountEntry[],
): Observable<string | undefined> {
  const mount = mountAt(entries, mountPoint);
  const mounted = mount && mountedLabel(mount);
  if (mounted !== undefined) return of(mounted);
  return readVolData(ports, directory).pipe(
    map((data) => (data?.ok === true ? data.value.label : undefined)),
    orElse(() => of(undefined)),
  );
}
