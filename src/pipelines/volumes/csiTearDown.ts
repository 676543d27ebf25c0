/**
 * Tears a CSI volume of a pod down: unpublishes it, and unstages it after its last pod of the node. Works from
 * `vol_data.json` alone, so also for volumes of an earlier kubelet. Stateless. Upstream: TearDownAt of csi_mounter.go and
 * UnmountDevice of csi_attacher.go.
 *
 *     pod's volume    [unpublish]-[remove mount]                      [remove directory]
 *     last of them                              [unstage]-[remove stage]
 *
 * A volume that its driver does not unstage holds no pod back: it stays in use, and housekeeping unstages it.
 */
import {
  catchError,
  concat,
  defaultIfEmpty,
  defer,
  EMPTY,
  filter,
  ignoreElements,
  isEmpty,
  map,
  type Observable,
  of,
  switchMap,
} from "rxjs";
import { csiVolumeName, globalMount, stageDirOf } from "../../core/csi/csiLayout.ts";
import { VOL_DATA, type VolData } from "../../core/csi/volData.ts";
import { mountAt } from "../../core/mount/mountInfo.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import type { VolumeNode } from "../../core/volume/volumeLayout.ts";
import { readVolData, refuseMountedAt, removeEmpty } from "./csiRemains.ts";
import { type HeldVolume, type HeldVolumes, holderOf, isLastUse, type KeptStage } from "./heldVolumes.ts";
import type { CsiContext } from "./csiContext.ts";
import { registeredDriver } from "./csiVolumes.ts";
import { type RemovalPorts, removeUnmounted } from "./removeUnmounted.ts";

/** A CSI volume on disk. */
export interface CsiRemains {
  readonly uid: string;
  readonly name: string;
  /** Directory with vol_data.json. */
  readonly directory: string;
  /** Directory of the subPaths that are bound for containers. */
  readonly subPaths: string;
  readonly directories: VolumeNode["directories"];
}

/** Completes when the pod has nothing of the volume left. Errors: KubeletError, without undoing completed steps. */
export function tearDownCsi(ports: RemovalPorts, context: CsiContext, remains: CsiRemains): Observable<never> {
  const { heldVolumes } = context;
  const { uid, name, directory, subPaths } = remains;
  const holder = holderOf(uid, name);
  return readVolData(ports, directory).pipe(
    switchMap((read) => {
      const data = read?.ok === true ? read.value : undefined;
      const held = heldVolumes.of(holder) ?? heldBy(heldVolumes, holder, data);
      const gone$ = concat(
        removeUnmounted(ports, subPaths),
        data === undefined ? EMPTY : unpublish(context, data, `${directory}/mount`),
        defer(() =>
          held !== undefined && isLastUse(held.volume, holder) ? unstageLast(ports, context, remains, held) : EMPTY,
        ).pipe(thenLeave(heldVolumes, holder, removeEmpty(ports, directory, `${directory}/mount`))),
      );
      const checked$ = concat(refuseMounted(ports, directory, read?.ok === false), gone$);
      return held === undefined ? checked$ : held.volume.turns.run(checked$);
    }),
  );
}

/**
 * Unstages the volume after its last pod; any pod may stage it again from then on. Emits the stage if it stays.
 * Errors: KubeletError while the pod has its mount.
 */
function unstageLast(
  ports: RemovalPorts,
  context: CsiContext,
  { directory, directories }: CsiRemains,
  { name, volume }: Held,
): Observable<KeptStage> {
  const [driver = "", ...handle] = name.split("^");
  const stage = { driver, handle: handle.join("^") };
  const unstaged$ = concat(
    unstageMount(ports, context, stage, directories, volume),
    defer(() => {
      context.heldVolumes.unmounted(volume);
      return EMPTY;
    }),
  );
  return concat(
    // Before the pod's own mount is gone, unstaging would take its file system away.
    refuseMountedAt(ports, `${directory}/mount`),
    unstaged$.pipe(orStay(ports, stage)),
  );
}

/** Emits the stage instead of the error. */
export const orStay =
  ({ telemetry }: Pick<RemovalPorts, "telemetry">, stage: KeptStage) =>
  (unstaged$: Observable<never>): Observable<KeptStage> =>
    unstaged$.pipe(
      catchError((thrown: unknown) => {
        const volume = csiVolumeName(stage.driver, stage.handle);
        telemetry.log.warn("A volume stays staged after its last pod", { volume, error: toKubeletError(thrown) });
        return of(stage);
      }),
    );

/** Removes what is left of the pod's volume; the volume itself stays in use if its stage stays. */
export const thenLeave =
  (heldVolumes: HeldVolumes, holder: string, removed$: Observable<never>) =>
  (unstaged$: Observable<KeptStage>): Observable<never> =>
    unstaged$.pipe(
      defaultIfEmpty(undefined),
      switchMap((stage) =>
        concat(
          removed$,
          defer(() => {
            if (stage === undefined) heldVolumes.drop(holder);
            else heldVolumes.stay(holder, stage);
            return EMPTY;
          }),
        ),
      ),
    );

type Held = NonNullable<ReturnType<HeldVolumes["of"]>>;

/** The volume is not known when its directory was unreadable at the start. */
export function heldBy(heldVolumes: HeldVolumes, holder: string, data: VolData | undefined): Held | undefined {
  if (data?.isPersistent !== true) return undefined;
  heldVolumes.hold(csiVolumeName(data.driver, data.handle), holder, true);
  return heldVolumes.of(holder);
}

/** Without a readable file nobody knows the driver: a mount stays, an empty directory goes. */
function refuseMounted({ mounts }: RemovalPorts, directory: string, isDamaged: boolean): Observable<never> {
  if (!isDamaged || mounts === undefined) return EMPTY;
  return mounts.list().pipe(
    switchMap((entries): Observable<never> => {
      if (mountAt(entries, `${directory}/mount`) === undefined) return EMPTY;
      throw kubeletError("Io", `kubernetes.io/csi: failed to parse volume data file [${directory}/${VOL_DATA}]`);
    }),
  );
}

export const unpublish = (context: CsiContext, { driver, handle }: VolData, targetPath: string): Observable<never> =>
  defer(() => {
    const facts = registeredDriver(context, driver, "Unmounter.TearDownAt failed to get CSI client");
    return context.port.at(facts).nodeUnpublishVolume({ volumeId: handle, targetPath });
  }).pipe(ignoreElements());

/** Unstages a volume with a file system; without its file and a mount it was never staged, and only its directories go. */
export function unstageMount(
  ports: RemovalPorts,
  context: CsiContext,
  { driver, handle }: Pick<VolData, "driver" | "handle">,
  directories: VolumeNode["directories"],
  volume: HeldVolume,
): Observable<never> {
  const stageDir = stageDirOf(directories, driver, handle);
  const mountPoint = globalMount(stageDir);
  const traces$ = concat(
    readVolData(ports, stageDir),
    ports.mounts?.list().pipe(map((entries) => mountAt(entries, mountPoint))) ?? EMPTY,
  );
  return traces$.pipe(
    filter((trace) => trace !== undefined),
    isEmpty(),
    switchMap((wasNeverStaged) => {
      const gone$ = removeEmpty(ports, stageDir, mountPoint);
      if (wasNeverStaged) return gone$;
      const facts = registeredDriver(context, driver, "attacher.UnmountDevice failed to create newCsiDriverClient");
      volume.isStaged = false;
      const isStaging = facts.capabilities.has("STAGE_UNSTAGE_VOLUME");
      const request = { volumeId: handle, stagingTargetPath: mountPoint };
      const unstaging$ = isStaging ? context.port.at(facts).nodeUnstageVolume(request) : EMPTY;
      return concat(unstaging$.pipe(ignoreElements()), gone$);
    }),
  );
}
