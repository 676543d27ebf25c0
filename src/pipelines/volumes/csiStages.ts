/**
 * CSI volumes that are staged for no pod: their last pod has gone, or an earlier kubelet, or upstream's, was killed before it
 * published them. A pod that wants one takes it over; otherwise it is unstaged, those of an earlier kubelet once all wishes
 * of pods are known.
 * Stateless: heldVolumes.ts has the stages, keptVolumes.ts unstages them. Bounds: the deadlines of the driver's calls.
 * Differs from upstream: upstream's kubelet leaves such a volume staged until a pod with it runs on the node again.
 *
 *     last pod [unstage]-[remove directories]---------------------------(released)
 *     start    [find]--held, in volumesInUse----------------------------(released)
 *     pods           ------(taken over)
 *     sweep                                 [unstage]-[remove directories]
 */
import { catchError, concat, defer, EMPTY, type Observable, of, switchMap } from "rxjs";
import { csiBlockPlaces } from "../../core/csi/csiBlockPlaces.ts";
import { CSI_PLUGIN, csiVolumeName, globalMount, stageDirOf } from "../../core/csi/csiLayout.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { isAtOrBelow, mountAt, type MountEntry } from "../../core/mount/mountInfo.ts";
import { csiPluginDir, type PathRoots, podsDir } from "../../core/paths.ts";
import { failedAt } from "../../core/volume/volumeChecks.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { removeEmptyDirectory } from "./blockMaps.ts";
import { orElse } from "../../operators/orElse.ts";
import { unstageBlock } from "./csiBlockTearDown.ts";
import { eachIn, guardedRead } from "./eachIn.ts";
import type { CsiContext, CsiVolume } from "./csiContext.ts";
import { readVolData } from "./csiRemains.ts";
import { unstageMount } from "./csiTearDown.ts";
import { type HeldVolume, holderOf, type KeptStage } from "./heldVolumes.ts";
import type { KeptSteps } from "./keptVolumes.ts";
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

/** Returns the steps of such a volume. */
export const keptStage = (
  ports: RemovalPorts,
  context: CsiContext,
  directories: Directories,
  stage: KeptStage,
): KeptSteps => ({
  volume: csiVolumeName(stage.driver, stage.handle),
  path: stagePath(directories, stage),
  driver: stage.driver,
  measured: { plugin: CSI_PLUGIN, csi: { driver: stage.driver } },
  isBlock: stage.blockName !== undefined,
  unstage: (volume) => unstage(ports, context, directories, stage, volume),
});

/**
 * Unstages the volume of a pod if it is staged with another SELinux label for no pod: one mount has one label. Errors: SetUpError.
 */
export function unstageOther(
  ports: RemovalPorts,
  context: CsiContext,
  { pod, layout: { csi, name } }: CsiVolume,
  directories: Directories,
): Observable<never> {
  const { heldVolumes } = context;
  const volume = heldVolumes.of(holderOf(pod.metadata.uid, name))?.volume;
  if (volume === undefined || csi.label === undefined) return EMPTY;
  const unstaged$ = defer(() => {
    const { label, labelled } = volume;
    if (label === undefined || label === csi.label || labelled.size > 0) return EMPTY;
    return concat(
      unstage(ports, context, directories, { kind: "csi", driver: csi.driver, handle: csi.handle }, volume),
      defer(() => {
        heldVolumes.unmounted(volume);
        return EMPTY;
      }),
    );
  });
  return volume.turns.run(unstaged$).pipe(
    catchError((thrown: unknown) => {
      throw failedAt("MountDevice", toKubeletError(thrown));
    }),
  );
}

/** Returns the place in which the driver has staged the volume. */
const stagePath = (directories: Directories, { driver, handle, blockName }: KeptStage): string =>
  blockName === undefined
    ? globalMount(stageDirOf(directories, driver, handle))
    : csiBlockPlaces(directories, "", blockName).staging;

function unstage(
  ports: RemovalPorts,
  context: CsiContext,
  directories: Directories,
  stage: KeptStage,
  volume: HeldVolume,
): Observable<never> {
  const { blockName } = stage;
  if (blockName === undefined) {
    const mounts$ = ports.mounts?.list() ?? of([]);
    return mounts$.pipe(
      switchMap((entries) => {
        const user = podMount(entries, stagePath(directories, stage), podsDir(directories));
        if (user !== undefined) throw kubeletError("Io", `the volume is still mounted at ${user}`);
        return unstageMount(ports, context, stage, directories, volume);
      }),
    );
  }
  const places = csiBlockPlaces(directories, "", blockName);
  return concat(
    refuseEntries(ports, places.publishDir),
    refuseEntries(ports, places.mapDir),
    unstageBlock(ports, context, places, stage, volume),
  );
}

/** Returns where a pod has the file system that is mounted at `path`, or a part of it. */
function podMount(entries: readonly MountEntry[], path: string, pods: string): string | undefined {
  const staged = mountAt(entries, path);
  if (staged === undefined) return undefined;
  const [isOfPod, isInside] = [isAtOrBelow(pods), isAtOrBelow(staged.root)];
  return entries.find(
    ({ device, root, mountPoint }) => device === staged.device && isInside(root) && isOfPod(mountPoint),
  )?.mountPoint;
}

/** Errors while a pod may have the device. */
const refuseEntries = ({ files }: RemovalPorts, directory: string): Observable<never> =>
  files.list(directory).pipe(
    switchMap(([name]): Observable<never> => {
      if (name !== undefined) throw kubeletError("Io", `the device is still published at ${directory}/${name}`);
      return EMPTY;
    }),
  );
