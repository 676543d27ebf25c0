/**
 * Unmounts and detaches volumes of the node that no pod has: their last pod has gone, or an earlier kubelet has left them.
 * Stateless: heldVolumes.ts has the volumes. Bounds: one operation per volume at a time, in sweeps one per driver.
 */
import { catchError, concat, defer, EMPTY, type Observable, of, toArray } from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import { isLeftWithOther } from "../../core/selinux/labelledLayout.ts";
import type { LeftStage } from "../../core/volume/leftStage.ts";
import type { MeasuredVolume } from "../../core/volume/measuredVolume.ts";
import { inParallel } from "../../operators/inParallel.ts";
import { inSequence } from "../../operators/inSequence.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Telemetry } from "../../ports/telemetry.ts";
import type { HeldVolume, HeldVolumes, KeptVolume } from "./heldVolumes.ts";
import { timed } from "./reportVolumeMetrics.ts";

/** Such a volume as its kind knows it. */
export interface KeptSteps {
  /** Its name for people. */
  readonly volume: string;
  /** Where the node has it. */
  readonly path: string;
  /** Its driver, which sweeps call for one volume at a time. */
  readonly driver: string;
  readonly measured: MeasuredVolume;
  readonly isBlock: boolean;
  /** Unmounts the volume for the node, and detaches it where the node does that. Errors: KubeletError, without undoing completed steps. */
  unstage(volume: HeldVolume): Observable<never>;
}

export interface KeptDeps {
  readonly heldVolumes: HeldVolumes;
  /** Returns the steps of a volume. */
  readonly stepsOf: (kept: KeptVolume) => KeptSteps;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** Returns all of them, while nothing may be unstaged. */
export const waitingVolumes = ({ heldVolumes, stepsOf }: KeptDeps): readonly LeftStage[] =>
  heldVolumes.kept().map((kept) => left(stepsOf(kept), PENDING));

const PENDING = "a pod may want the volume: the claims of all pods are not read yet";

const left = ({ volume, path }: KeptSteps, reason: string): LeftStage => ({ volume, path, reason });

/** Unstages those that no pod has taken over. Emits the volumes that stay, once. Never errors. */
export function unstageKept(deps: KeptDeps): Observable<readonly LeftStage[]> {
  const kept = deps.heldVolumes.kept();
  const byDriver = Map.groupBy(kept, (each) => deps.stepsOf(each).driver);
  return inParallel([...byDriver.values()], (volumes) => inSequence(volumes, (each) => unstageOne(deps, each))).pipe(
    toArray(),
  );
}

/** Unstages one, unless a pod has taken it over. Emits it if it stays. Never errors. */
export function unstageOne(deps: KeptDeps, kept: KeptVolume): Observable<LeftStage> {
  const { heldVolumes, stepsOf, telemetry } = deps;
  const volume = heldVolumes.keptVolume(kept);
  if (volume === undefined) return EMPTY;
  const steps = stepsOf(kept);
  const unstaged$ = defer(() =>
    // A pod may have taken it over meanwhile.
    heldVolumes.keptVolume(kept) === undefined
      ? EMPTY
      : concat(
          timed(steps.unstage(volume), steps.isBlock ? "unmap_device" : "unmount_device", steps.measured, deps),
          defer(() => {
            heldVolumes.unmounted(volume);
            heldVolumes.release(kept);
            telemetry.log.info("Unstaged a volume that no pod has", { path: steps.path });
            return EMPTY;
          }),
        ),
  );
  return volume.turns
    .run(unstaged$)
    .pipe(catchError((thrown: unknown) => of(left(steps, toKubeletError(thrown).message))));
}

/** Runs `unstage$` if the volume is mounted with another SELinux label than the wanted one for no pod. Errors: those of `unstage$`. */
export const unstageOtherLabel = (
  heldVolumes: Pick<HeldVolumes, "unmounted">,
  volume: HeldVolume,
  wanted: string | undefined,
  unstage$: Observable<never>,
): Observable<never> =>
  defer(() => {
    if (!isLeftWithOther(volume, wanted)) return EMPTY;
    return concat(
      unstage$,
      defer(() => {
        heldVolumes.unmounted(volume);
        return EMPTY;
      }),
    );
  });
