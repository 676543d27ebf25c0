/**
 * Finds the disks of the network and the flexVolumes that an earlier kubelet has left to no pod: they have a directory of the
 * node. Stateless: heldVolumes.ts has them. Runs after the volumes of pods are known. Differs from upstream, which leaves them.
 */
import { concat, EMPTY, type Observable, of, switchMap } from "rxjs";
import { FC_PLUGIN } from "../../core/disk/fcDisk.ts";
import { ISCSI_PLUGIN } from "../../core/disk/iscsiDisk.ts";
import { flexVolumeName } from "../../core/flex/flexLayout.ts";
import { diskDevicesDir, diskPluginDir, flexPluginDir, type PathRoots } from "../../core/paths.ts";
import { inSequence } from "../../operators/inSequence.ts";
import type { DiskContext } from "./diskAttachment.ts";
import { eachIn } from "./eachIn.ts";
import { type FlexContext, isMounted } from "./flexVolumes.ts";
import type { RemovalPorts } from "./removeUnmounted.ts";
import { diskNames } from "./restoreDisks.ts";

type Directories = Pick<PathRoots, "rootDir">;

/**
 * Notes the disks. Never errors: a directory that cannot be read is logged. A directory whose name need not be that of a disk
 * counts while something is mounted on it.
 */
export function keepDisks(
  ports: RemovalPorts,
  { heldVolumes }: Pick<DiskContext, "heldVolumes">,
  directories: Directories,
): Observable<never> {
  const keep = (plugin: string, directory: string, isBlock: boolean): Observable<never> =>
    isDiskDirectory(ports, plugin, directory).pipe(
      switchMap((isDisk) => {
        const names = isDisk ? diskNames(plugin, directory) : [];
        if (names.length > 0) heldVolumes.keep(directory, { kind: "disk", plugin, directory, isBlock }, ...names);
        return EMPTY;
      }),
    );
  return inSequence([false, true], (isBlock) => {
    const top = (plugin: string) => (isBlock ? diskDevicesDir : diskPluginDir)(directories, plugin);
    const [fc, iscsi] = [top(FC_PLUGIN), top(ISCSI_PLUGIN)];
    return concat(
      eachIn(ports, fc, (name) => keep(FC_PLUGIN, `${fc}/${name}`, isBlock)),
      eachIn(ports, iscsi, (iface) =>
        eachIn(ports, `${iscsi}/${iface}`, (name) => keep(ISCSI_PLUGIN, `${iscsi}/${iface}/${name}`, isBlock)),
      ),
    );
  });
}

/** Emits whether a directory is that of a disk for sure: any name may be a WWID, such as that of the directory of devices. */
const isDiskDirectory = (ports: RemovalPorts, plugin: string, directory: string): Observable<boolean> =>
  plugin !== FC_PLUGIN || /-lun-\d+$/.test(directory) ? of(true) : isMounted(ports, directory);

/** Notes the flexVolumes. Never errors: a directory that cannot be read is logged. */
export function keepFlex(
  ports: RemovalPorts,
  { heldVolumes }: Pick<FlexContext, "heldVolumes">,
  directories: Directories,
): Observable<never> {
  const top = flexPluginDir(directories);
  return eachIn(ports, top, (vendor) =>
    eachIn(ports, `${top}/${vendor}`, (program) => {
      const driver = `${vendor}/${program}`;
      return eachIn(ports, `${top}/${driver}/mounts`, (name) => {
        const volumeName = flexVolumeName(driver, name);
        heldVolumes.keep(volumeName, { kind: "flex", driver, name }, volumeName);
        return EMPTY;
      });
    }),
  );
}
