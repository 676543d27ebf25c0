/**
 * Tears a CSI volume of a pod down: unpublishes it. Works from `vol_data.json` alone, so also for volumes of an earlier
 * kubelet. The volume of the node is unstaged after its last pod has gone (csiUnstage.ts): no pod waits for that. Stateless.
 * Upstream: TearDownAt of csi_mounter.go.
 */
import { concat, defer, EMPTY, ignoreElements, type Observable, switchMap } from "rxjs";
import { csiVolumeName } from "../../core/csi/csiLayout.ts";
import { VOL_DATA, type VolData } from "../../core/csi/volData.ts";
import { mountAt } from "../../core/mount/mountInfo.ts";
import { kubeletError } from "../../core/errors.ts";
import { readVolData, removeEmpty } from "./csiRemains.ts";
import { type HeldVolumes, holderOf } from "./heldVolumes.ts";
import type { CsiContext } from "./csiContext.ts";
import { registeredDriver } from "./csiVolumes.ts";
import { type RemovalPorts, removeRarelyMounted } from "./removeUnmounted.ts";

/** A CSI volume on disk. */
export interface CsiRemains {
  readonly uid: string;
  readonly name: string;
  /** Directory with vol_data.json. */
  readonly directory: string;
  /** Directory of the subPaths that are bound for containers. */
  readonly subPaths: string;
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
        removeRarelyMounted(ports, subPaths),
        data === undefined ? EMPTY : unpublish(context, data, `${directory}/mount`),
        removeEmpty(ports, directory, `${directory}/mount`),
        leave(heldVolumes, holder, held),
      );
      const checked$ = concat(refuseMounted(ports, directory, read?.ok === false), gone$);
      return held === undefined ? checked$ : held.volume.turns.run(checked$);
    }),
  );
}

/** Notes that the pod has nothing of the volume left; `blockName` is the name of a block volume. */
export const leave = (
  heldVolumes: HeldVolumes,
  holder: string,
  held: Held | undefined,
  blockName?: string,
): Observable<never> =>
  defer(() => {
    if (held === undefined) return EMPTY;
    const [driver = "", ...handle] = held.name.split("^");
    const block = blockName === undefined ? {} : { blockName };
    heldVolumes.leave(holder, { kind: "csi", driver, handle: handle.join("^"), ...block });
    return EMPTY;
  });

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
