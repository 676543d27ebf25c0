/**
 * Unstages CSI volumes that no pod has. Stateless. Every step can be repeated. Bounds: the deadlines of the driver's calls.
 * Upstream: UnmountDevice of csi_attacher.go and TearDownDevice of csi_block.go.
 */
import { concat, defer, EMPTY, ignoreElements, type Observable, of, switchMap } from "rxjs";
import { type CsiBlockPlaces, csiBlockPlaces } from "../../core/csi/csiBlockPlaces.ts";
import { CSI_PLUGIN, csiVolumeName, globalMount, stageDirOf } from "../../core/csi/csiLayout.ts";
import type { VolData } from "../../core/csi/volData.ts";
import { kubeletError } from "../../core/errors.ts";
import { isAtOrBelow, mountAt, type MountEntry } from "../../core/mount/mountInfo.ts";
import { type PathRoots, podsDir } from "../../core/paths.ts";
import { failing } from "./blockMaps.ts";
import type { CsiContext, CsiVolume } from "./csiContext.ts";
import { readVolData, removeBlockStage, removeEmpty } from "./csiRemains.ts";
import { registeredDriver } from "./csiVolumes.ts";
import { type HeldVolume, holderOf, type KeptStage } from "./heldVolumes.ts";
import { type KeptSteps, unstageOtherLabel } from "./keptVolumes.ts";
import type { RemovalPorts } from "./removeUnmounted.ts";

type Directories = Pick<PathRoots, "rootDir">;

/** Returns the steps of a volume that no pod has. */
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

/** Unstages the volume of a pod if it is staged with another SELinux label for no pod. Errors: SetUpError. */
export function unstageOther(
  ports: RemovalPorts,
  context: CsiContext,
  { pod, layout: { csi, name } }: CsiVolume,
  directories: Directories,
): Observable<never> {
  const { heldVolumes } = context;
  const volume = heldVolumes.of(holderOf(pod.metadata.uid, name))?.volume;
  if (volume === undefined || csi.label === undefined) return EMPTY;
  const { driver, handle, label } = csi;
  const unstage$ = defer(() => unstage(ports, context, directories, { kind: "csi", driver, handle }, volume));
  return volume.turns.run(unstageOtherLabel(heldVolumes, volume, label, unstage$)).pipe(failing("MountDevice"));
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
        return unstageMount(ports, context, stage, directories, { entries, volume });
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

/** Unstages a volume with a file system; without its file and a mount it was never staged, and only its directories go. */
function unstageMount(
  ports: RemovalPorts,
  context: CsiContext,
  { driver, handle }: Pick<VolData, "driver" | "handle">,
  directories: Directories,
  { entries, volume }: { readonly entries: readonly MountEntry[]; readonly volume: HeldVolume },
): Observable<never> {
  const stageDir = stageDirOf(directories, driver, handle);
  const mountPoint = globalMount(stageDir);
  return readVolData(ports, stageDir).pipe(
    switchMap((data) => {
      const gone$ = removeEmpty(ports, stageDir, mountPoint);
      if (data === undefined && mountAt(entries, mountPoint) === undefined) return gone$;
      const facts = registeredDriver(context, driver, "attacher.UnmountDevice failed to create newCsiDriverClient");
      volume.isStaged = false;
      const isStaging = facts.capabilities.has("STAGE_UNSTAGE_VOLUME");
      const request = { volumeId: handle, stagingTargetPath: mountPoint };
      const unstaging$ = isStaging ? context.port.at(facts).nodeUnstageVolume(request) : EMPTY;
      return concat(unstaging$.pipe(ignoreElements()), gone$);
    }),
  );
}

/** Unstages a block volume, and removes its directories; one without a staging directory was never staged. */
function unstageBlock(
  ports: RemovalPorts,
  context: CsiContext,
  places: CsiBlockPlaces,
  data: Pick<VolData, "driver" | "handle">,
  volume: HeldVolume,
): Observable<never> {
  const unstaged$ = ports.files.kindOf(places.staging).pipe(
    switchMap((kind) => {
      if (kind === undefined) return EMPTY;
      const facts = registeredDriver(context, data.driver, "blockMapper.TearDownDevice failed to get CSI client");
      volume.isStaged = false;
      if (!facts.capabilities.has("STAGE_UNSTAGE_VOLUME")) return EMPTY;
      const request = { volumeId: data.handle, stagingTargetPath: places.staging };
      return context.port.at(facts).nodeUnstageVolume(request);
    }),
    ignoreElements(),
  );
  return concat(
    unstaged$,
    defer(() => removeBlockStage(ports, places)),
  );
}
