/**
 * Finds the CSI volumes that are staged for no pod at start: an earlier kubelet, or upstream's, was killed before it published
 * or unstaged them. A pod that wants one takes it over; otherwise it is unstaged once all wishes of pods are known.
 * Stateless: heldVolumes.ts has the stages, keptVolumes.ts unstages them.
 * Differs from upstream: upstream's kubelet leaves such a volume staged until a pod with it runs on the node again.
 *
 *     start    [find]--held, in volumesInUse----------------------------(released)
 *     pods           ------(taken over)
 *     sweep                                 [unstage]-[remove directories]
 */
import { EMPTY, type Observable, switchMap } from "rxjs";
import { csiBlockPlaces } from "../../core/csi/csiBlockPlaces.ts";
import { csiVolumeName, globalMount, stageDirOf } from "../../core/csi/csiLayout.ts";
import { csiPluginDir, type PathRoots } from "../../core/paths.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { orElse } from "../../operators/orElse.ts";
import { removeEmptyDirectory } from "./blockMaps.ts";
import type { CsiContext } from "./csiContext.ts";
import { readVolData } from "./csiRemains.ts";
import { eachIn, guardedRead } from "./eachIn.ts";
import type { RemovalPorts } from "./removeUnmounted.ts";

type Directories = Pick<PathRoots, "rootDir">;

/** Directory of block volumes, among those of drivers; two of its names are no volumes. */
const BLOCK_DIRECTORY = "volumeDevices";
const HASH = /^[0-9a-f]{64}$/;
const NO_VOLUMES: ReadonlySet<string> = new Set(["staging", "publish"]);

/** Notes the stages that no pod on disk has. Never errors: an unreadable record is logged, and its volume stays staged. */
export function restoreStages(
  ports: RemovalPorts,
  { heldVolumes }: Pick<CsiContext, "heldVolumes">,
  directories: Directories,
): Observable<never> {
  const top = csiPluginDir(directories);
  const block = (name: string): Observable<never> => {
    const { dataDir, volumeDir } = csiBlockPlaces(directories, "", name);
    const read$ = readVolData(ports, dataDir).pipe(
      switchMap((data) => {
        if (data === undefined) return removeAbandoned(ports, [dataDir, volumeDir]);
        if (data.ok) {
          const { driver, handle } = data.value;
          heldVolumes.keep(csiVolumeName(driver, handle), { kind: "csi", driver, handle, blockName: name });
        }
        return EMPTY;
      }),
    );
    return NO_VOLUMES.has(name) ? EMPTY : guardedRead(ports, dataDir, read$);
  };
  const mount = (driver: string, hash: string): Observable<never> => {
    const path = `${top}/${driver}/${hash}`;
    const read$ = readVolData(ports, path).pipe(
      switchMap((data) => {
        if (data === undefined) return removeAbandoned(ports, [globalMount(path), path]);
        const { driver: recorded, handle } = data.ok ? data.value : NO_RECORD;
        // A record of another volume would have that one unstaged.
        const isOwn = recorded === driver && stageDirOf(directories, driver, handle) === path;
        if (isOwn) heldVolumes.keep(csiVolumeName(driver, handle), { kind: "csi", driver, handle });
        return EMPTY;
      }),
    );
    return guardedRead(ports, path, read$);
  };
  return eachIn(ports, top, (driver) =>
    eachIn(ports, `${top}/${driver}`, (name) => {
      if (driver === BLOCK_DIRECTORY) return block(name);
      return HASH.test(name) ? mount(driver, name) : EMPTY;
    }),
  );
}

const NO_RECORD = { driver: "", handle: "" };

/**
 * Removes the directories of a stage without a record that a killed kubelet had begun to remove, or to make. Directories
 * with something in them, or mounted, stay.
 */
const removeAbandoned = (ports: RemovalPorts, directories: readonly string[]): Observable<never> =>
  inSequence(directories, (directory) => removeEmptyDirectory(ports, directory)).pipe(orElse(() => EMPTY));
