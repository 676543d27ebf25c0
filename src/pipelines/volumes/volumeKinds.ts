/** Kinds of volumes with steps of their own, which drivers set up and tear down. All others are in volumeEffects.ts. */
import { catchError, concat, distinctUntilChanged, EMPTY, map, merge, type Observable, of, skip } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { CSI_PLUGIN } from "../../core/csi/csiLayout.ts";
import { isDiskPlugin } from "../../core/disk/diskBlock.ts";
import { toKubeletError } from "../../core/errors.ts";
import { flexVolumeName, isFlexPlugin } from "../../core/flex/flexLayout.ts";
import type { PodUid } from "../../core/ids.ts";
import { invariant } from "../../core/invariant.ts";
import { flexDeviceMount, type PathRoots, podVolumeSubpathsDir } from "../../core/paths.ts";
import { sameItems } from "../../core/sameValue.ts";
import type { LeftStage } from "../../core/volume/leftStage.ts";
import type { PodVolumes } from "../../core/volume/podVolumes.ts";
import type { BlockedVolume, SetUpError } from "../../core/volume/volumeChecks.ts";
import type { VolumeLayout, VolumeNode } from "../../core/volume/volumeLayout.ts";
import type { VolumeNotice } from "../../core/volume/volumeNotices.ts";
import type { ActualVolume } from "../../core/volume/volumePlan.ts";
import { boundedMergeMap } from "../../operators/boundedMergeMap.ts";
import { inSequence } from "../../operators/inSequence.ts";
import type { ReadonlyKeyedCell } from "../../state/keyedCell.ts";
import { csiNews, restoreCsi, unpublishPod } from "./csiPods.ts";
import { tearDownCsi } from "./csiTearDown.ts";
import { csiWait } from "./csiAttachment.ts";
import type { CsiContext } from "./csiContext.ts";
import { isCsi, isCsiLabelled, setUpCsi } from "./csiVolumes.ts";
import type { DeviceTurns } from "./deviceTurns.ts";
import type { DiskContext } from "./diskAttachment.ts";
import { detachUnmapped, isDiskDevice, setUpDiskDevice } from "./diskDevices.ts";
import { diskNews, diskWait, isDisk, setUpDisk, tearDownDisk, unstageDisk } from "./diskVolumes.ts";
import { keptStage, unstageOther } from "./csiUnstage.ts";
import { flexOnDisk, tearDownFlex, unstageFlex } from "./flexTearDown.ts";
import { type FlexContext, flexNews, flexWait, isFlex, isFlexLabelled, restoreFlex, setUpFlex } from "./flexVolumes.ts";
import type { KeptVolume } from "./heldVolumes.ts";
import { type KeptDeps, type KeptSteps, unstageKept, unstageOne, waitingVolumes } from "./keptVolumes.ts";
import type { RemovalPorts } from "./removeUnmounted.ts";
import { restoreDisks } from "./restoreDisks.ts";
import { keepDisks, keepFlex } from "./restoreKept.ts";
import type { VolumePorts } from "./volumeEffects.ts";

/** The context of each kind; undefined for a kind that the node lacks. */
export interface VolumeKinds {
  readonly csi: CsiContext | undefined;
  readonly flex: FlexContext | undefined;
  readonly disks?: DiskContext | undefined;
}

type Directories = Pick<PathRoots, "rootDir">;

/** A volume that a driver sets up. */
export interface OwnSteps {
  /** Notes that the volume is needed. Returns why it must wait, or cannot be attached; undefined: it can be set up. */
  wait(): string | BlockedVolume | SetUpError | undefined;
  /** Emits notices for its pod. Errors: SetUpError; completed steps stay. */
  setUp(): Observable<VolumeNotice>;
  /** Emits whether the runtime may label the files of the volume that is set up. Errors: KubeletError. */
  isLabelled(): Observable<boolean>;
}

/** Returns the steps of a volume; undefined for one that the kubelet mounts itself. */
export function ownSteps(
  ports: VolumePorts,
  { csi, flex, disks }: VolumeKinds,
  pod: Pod,
  layout: VolumeLayout,
  node: Directories & Pick<VolumeNode, "selinuxEnabled">,
): OwnSteps | undefined {
  if (csi !== undefined && isCsi(layout)) {
    const volume = { pod, layout };
    const setUp = () => concat(unstageOther(ports, csi, volume, node), setUpCsi(ports, csi, volume));
    const isLabelled = () => (node.selinuxEnabled ? isCsiLabelled(ports, layout) : of(true));
    return { wait: () => csiWait(volume, csi), setUp, isLabelled };
  }
  if (disks !== undefined && isDisk(layout)) {
    const volume = { pod, layout };
    const setUp = () =>
      isDiskDevice(volume) ? setUpDiskDevice(ports, disks, volume) : setUpDisk(ports, disks, volume);
    return { wait: () => diskWait(volume, disks), setUp, isLabelled: () => of(true) };
  }
  if (flex === undefined || !isFlex(layout)) return undefined;
  const volume = { pod, layout };
  return {
    wait: () => flexWait(volume, flex),
    setUp: () => setUpFlex(ports, flex, volume),
    isLabelled: () => of(isFlexLabelled(layout.flex, flex)),
  };
}

/** Returns the tear down of a volume on disk; undefined for one that the kubelet unmounts itself. */
export function ownTearDown(
  ports: RemovalPorts,
  { csi, flex, disks }: VolumeKinds,
  uid: PodUid,
  { plugin, name, path }: Pick<ActualVolume, "plugin" | "name" | "path">,
  directories: Directories,
): Observable<never> | undefined {
  const remains = { uid, name, subPaths: `${podVolumeSubpathsDir(directories, uid)}/${name}` };
  if (plugin === CSI_PLUGIN) return csi && tearDownCsi(ports, csi, { ...remains, directory: path });
  if (isDiskPlugin(plugin)) return disks && tearDownDisk(ports, disks, { ...remains, plugin, path });
  return isFlexPlugin(plugin) && flex !== undefined
    ? tearDownFlex(ports, flex, { ...remains, plugin, path })
    : undefined;
}

/** Emits when a volume may proceed. */
export function kindNews(
  { csi, flex, disks }: VolumeKinds,
  layout: () => VolumeLayout | undefined,
  key: string,
): Observable<unknown> {
  if (key.startsWith(`${CSI_PLUGIN}/`)) return csiNews(csi, layout, key);
  if (disks !== undefined && isDiskPlugin(key.slice(0, key.lastIndexOf("/")))) {
    const attached$ = disks.node.changes$.pipe(
      map(() => diskNews(disks, layout()?.disk)),
      distinctUntilChanged(),
      skip(1),
    );
    return merge(attached$, disks.heldVolumes.unmounted$);
  }
  if (flex === undefined || !isFlexPlugin(key.slice(0, key.lastIndexOf("/")))) return EMPTY;
  return merge(flex.node.changes$, flex.drivers.changes$).pipe(
    map(() => flexNews(flex, layout()?.flex)),
    distinctUntilChanged(sameItems),
    skip(1),
  );
}

const foundOf = (uid: PodUid, volumes: PodVolumes | undefined, isWanted: (found: ActualVolume) => boolean) =>
  [...(volumes?.actual.values() ?? [])].filter(isWanted).map((found) => ({ ...found, uid }));

const isOnDisk = ({ plugin }: ActualVolume): boolean => isDiskPlugin(plugin);
const isOfFlex = ({ plugin, isBlock }: ActualVolume): boolean => isBlock !== true && isFlexPlugin(plugin);

/** Notes the volumes on disk, which stay in use until they are torn down. Never errors. */
export function restoreKinds(
  ports: RemovalPorts,
  { csi, flex, disks }: VolumeKinds,
  volumes: ReadonlyKeyedCell<PodUid, PodVolumes>,
  directories: Directories,
): Observable<never> {
  const found = (isWanted: (found: ActualVolume) => boolean) =>
    volumes.keys().flatMap((uid) => foundOf(uid, volumes.get(uid), isWanted));
  return concat(
    logged(ports, disks === undefined ? EMPTY : restoreDisks(ports, disks, directories, found(isOnDisk))),
    logged(ports, flex === undefined ? EMPTY : restoreFlex(ports, flex, flexOnDisk(found(isOfFlex), directories))),
    // After the volumes of pods: only those of no pod are kept.
    disks === undefined ? EMPTY : keepDisks(ports, disks, directories),
    flex === undefined ? EMPTY : keepFlex(ports, flex, directories),
    csi === undefined ? EMPTY : restoreCsi(ports, csi, volumes, directories),
  );
}

const logged = ({ telemetry }: RemovalPorts, restored$: Observable<never>): Observable<never> =>
  restored$.pipe(
    catchError((thrown: unknown) => {
      telemetry.log.warn("Cannot tell which volumes are mounted for the node", { error: toKubeletError(thrown) });
      return EMPTY;
    }),
  );

type KeptPorts = RemovalPorts & Pick<KeptDeps, "clock">;

/**
 * Unmounts and detaches volumes of the node that no pod has, unless some pod may want one: its claim is not read yet.
 * Emits those that stay, once. Never errors.
 */
export function unstageLeft(
  ports: KeptPorts,
  kinds: VolumeKinds,
  volumes: ReadonlyKeyedCell<PodUid, PodVolumes>,
  directories: Directories,
): Observable<readonly LeftStage[]> {
  const deps = keptDeps(ports, kinds, directories);
  if (deps === undefined) return of([]);
  const isAnyPending = volumes
    .keys()
    .some((uid) => [...(volumes.get(uid)?.wishes.values() ?? [])].some(({ kind }) => kind === "pending"));
  return isAnyPending ? of(waitingVolumes(deps)) : unstageKept(deps);
}

/** Unmounts and detaches each volume of the node that its last pod leaves. Emits those that stay. Never errors. */
export function unstageAsLeft(ports: KeptPorts, kinds: VolumeKinds, directories: Directories): Observable<LeftStage> {
  const deps = keptDeps(ports, kinds, directories);
  if (deps === undefined) return EMPTY;
  return deps.heldVolumes.left$.pipe(boundedMergeMap((kept) => unstageOne(deps, kept), UNSTAGED_AT_ONCE));
}

/** More volumes than a node has attached. Those beyond wait for the next sweep, one per driver at a time. */
const UNSTAGED_AT_ONCE = { limit: 256, queueLimit: 0 };

/** Returns how volumes without a pod go; undefined: the node has none. All kinds have the same `heldVolumes`. */
function keptDeps(ports: KeptPorts, kinds: VolumeKinds, directories: Directories): KeptDeps | undefined {
  const { heldVolumes } = kinds.csi ?? kinds.disks ?? kinds.flex ?? {};
  const stepsOf = (kept: KeptVolume) => keptSteps(ports, kinds, directories, kept);
  const { clock, telemetry } = ports;
  return heldVolumes && { heldVolumes, stepsOf, clock, telemetry };
}

function keptSteps(
  ports: RemovalPorts,
  { csi, disks, flex }: VolumeKinds,
  directories: Directories,
  kept: KeptVolume,
): KeptSteps {
  switch (kept.kind) {
    case "csi":
      invariant(csi !== undefined, "a CSI volume on a node without CSI drivers");
      return keptStage(ports, csi, directories, kept);
    case "disk": {
      invariant(disks !== undefined, "a disk on a node without disks");
      const { plugin, directory, isBlock } = kept;
      const unstage = isBlock ? detachUnmapped : unstageDisk;
      return {
        ...{ volume: directory, path: directory, driver: plugin, measured: { plugin }, isBlock },
        unstage: () => unstage(ports, disks, kept),
      };
    }
    case "flex":
      invariant(flex !== undefined, "a flexVolume on a node without its drivers");
      return {
        volume: flexVolumeName(kept.driver, kept.name),
        ...{ path: flexDeviceMount(directories, kept.driver, kept.name), driver: kept.driver },
        ...{ measured: { plugin: kept.driver }, isBlock: false },
        unstage: () => unstageFlex(ports, flex, directories, kept),
      };
  }
}

/** Gives the volumes of a pod that nothing needs back to their drivers. Errors: the KubeletError of the first that stays. */
export function givePodBack(
  ports: RemovalPorts,
  kinds: VolumeKinds,
  { turns, directories }: { readonly turns: DeviceTurns; readonly directories: Directories },
  uid: PodUid,
  volumes: PodVolumes | undefined,
): Observable<never> {
  return concat(
    unpublishPod(ports, { ...kinds, turns, rootDir: directories.rootDir }, uid, volumes),
    inSequence(
      foundOf(uid, volumes, (found) => isOfFlex(found) || (isOnDisk(found) && found.isBlock !== true)),
      (volume) => ownTearDown(ports, kinds, uid, volume, directories) ?? EMPTY,
    ),
  );
}
