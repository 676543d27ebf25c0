/**
 * Notes with which SELinux labels volumes of pods are mounted from an earlier kubelet: by the options of their mounts, else by
 * `vol_data.json`, which is written before a driver mounts. Stateless. Upstream: GetSELinuxMountContext of pkg/volume/util/hostutil,
 * and ReconstructedVolume of the volume plugins.
 */
import { EMPTY, forkJoin, ignoreElements, map, type Observable, of, switchMap } from "rxjs";
import { CSI_PLUGIN } from "../../core/csi/csiLayout.ts";
import { isDiskPlugin } from "../../core/disk/diskBlock.ts";
import type { PodUid } from "../../core/ids.ts";
import { mountAt, type MountEntry } from "../../core/mount/mountInfo.ts";
import { mountedLabel } from "../../core/selinux/fileLabel.ts";
import type { PodVolumes } from "../../core/volume/podVolumes.ts";
import type { ActualVolume } from "../../core/volume/volumePlan.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { orElse } from "../../operators/orElse.ts";
import type { ReadonlyKeyedCell } from "../../state/keyedCell.ts";
import { readVolData } from "./csiRemains.ts";
import { holderOf } from "./heldVolumes.ts";
import type { RemovalPorts } from "./removeUnmounted.ts";
import type { VolumeKinds } from "./volumeKinds.ts";
import type { VolumeLabels } from "./volumeLabels.ts";

/** Notes the labels of volumes that `restoreKinds` has found. A volume without a label may get one. Never errors. */
export function restoreLabels(
  ports: RemovalPorts,
  { csi, disks }: Pick<VolumeKinds, "csi" | "disks">,
  labels: Pick<VolumeLabels, "adopt">,
  volumes: ReadonlyKeyedCell<PodUid, PodVolumes>,
): Observable<never> {
  const { mounts } = ports;
  const found = volumes.keys().flatMap((uid) => {
    const mounted = [...(volumes.get(uid)?.actual.values() ?? [])].filter(({ isBlock }) => isBlock !== true);
    return mounted.filter(({ plugin }) => plugin === CSI_PLUGIN || isDiskPlugin(plugin)).map((each) => ({ uid, each }));
  });
  if (found.length === 0) return EMPTY;
  const entries$ = (mounts?.list() ?? of([])).pipe(orElse(() => of([])));
  return entries$.pipe(
    switchMap((entries) =>
      inSequence(found, ({ uid, each }) => {
        const holder = holderOf(uid, each.name);
        const held = (each.plugin === CSI_PLUGIN ? csi : disks)?.heldVolumes.of(holder);
        if (held === undefined) return EMPTY;
        if (each.plugin !== CSI_PLUGIN) held.volume.users.add(holder);
        return labelAt(ports, each, held.name, entries).pipe(
          map((label) => {
            if (label === undefined) return;
            held.volume.label = label;
            for (const name of held.volume.listedAs) labels.adopt(uid, name, label);
          }),
          ignoreElements(),
        );
      }),
    ),
  );
}

/** Emits the label of a volume; `held` is the name of the volume of the node, for a disk its mount point. */
function labelAt(
  ports: RemovalPorts,
  { plugin, path }: Pick<ActualVolume, "plugin" | "path">,
  held: string,
  entries: readonly MountEntry[],
): Observable<string | undefined> {
  const isCsi = plugin === CSI_PLUGIN;
  const mount = mountAt(entries, isCsi ? `${path}/mount` : held);
  const mounted = mount && mountedLabel(mount);
  if (mounted !== undefined || !isCsi) return of(mounted);
  return forkJoin([readVolData(ports, path)]).pipe(
    map(([data]) => (data?.ok === true ? data.value.label : undefined)),
    orElse(() => of(undefined)),
  );
}
