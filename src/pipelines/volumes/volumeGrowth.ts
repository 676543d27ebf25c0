/** Expansions that the worker of a volume begins: after a set up, and while containers use the volume. Stateless. */
import { catchError, concat, defer, EMPTY, type Observable, of } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { toKubeletError } from "../../core/errors.ts";
import { podEventObject } from "../../core/pod/podEvents.ts";
import { expansionFailure } from "../../core/volume/expansionEvents.ts";
import { failedAt, type SetUpError } from "../../core/volume/volumeChecks.ts";
import type { VolumeLayout } from "../../core/volume/volumeLayout.ts";
import { type ActualVolume, type VolumeInputs, withFailure, withoutFailure } from "../../core/volume/volumePlan.ts";
import type { Clock } from "../../ports/clock.ts";
import { eventOutput, type PodOutput } from "../podOutputs.ts";
import { holderOf } from "./heldVolumes.ts";
import { deviceOf, type DeviceTurns } from "./deviceTurns.ts";
import { expandAfterSetUp, expandInUse, type ExpansionDeps } from "./expandVolume.ts";
import { timed } from "./reportVolumeMetrics.ts";

export interface GrowthDeps extends ExpansionDeps {
  readonly ports: ExpansionDeps["ports"] & { readonly clock: Clock };
  readonly uid: string;
  readonly turns: DeviceTurns;
  readonly record: { get(): ActualVolume | undefined; set(actual: ActualVolume | undefined): void };
}

interface Grown {
  readonly pod: Pod;
  readonly layout: VolumeLayout;
}

/** Expands a volume that has just been set up. Errors: SetUpError. */
export const expandSetUp = ({ pod, layout }: Grown, deps: GrowthDeps): Observable<PodOutput> =>
  defer(() => {
    const { capacity } = layout;
    if (capacity === undefined) return EMPTY;
    return inTurn(layout, expandAfterSetUp({ pod, layout: { ...layout, capacity } }, deps), deps);
  }).pipe(
    catchError((thrown: unknown): Observable<never> => {
      const step = layout.block === undefined ? "Setup" : "MarkVolumeAsMounted";
      const error: SetUpError = { ...failedAt(step, toKubeletError(thrown)), isExpanding: true };
      throw error;
    }),
  );

/** Expands a volume that containers use, and records the outcome. Never errors. */
export function expandMounted({ pod, layout }: Grown, inputs: VolumeInputs, deps: GrowthDeps): Observable<PodOutput> {
  const { record, ports } = deps;
  const { capacity, name, plugin } = layout;
  const actual = record.get();
  if (capacity === undefined || actual === undefined) return EMPTY;
  const expanded$ = inTurn(layout, expandInUse({ pod, layout: { ...layout, capacity } }, deps), deps);
  const recorded$ = defer(() => {
    record.set(withoutFailure(record.get() ?? actual));
    return EMPTY;
  });
  return concat(timed(expanded$, "volume_fs_resize", layout, ports), recorded$).pipe(
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      record.set(withFailure(actual, { operation: "expand", error, inputs }, ports.clock.monotonicMs()));
      ports.telemetry.log.warn("Cannot expand a volume", { podUid: deps.uid, volume: name, plugin, error });
      const failure = expansionFailure(name, error.message);
      return of(eventOutput({ type: "Warning", ...failure, object: podEventObject(pod) }));
    }),
  );
}

/**
 * Runs an operation on the volume alone, whatever pods have it. A flexVolume of a driver that attaches none waits for nobody, so that
 * no other volume waits for its driver.
 */
function inTurn<T>(layout: VolumeLayout, operation$: Observable<T>, deps: GrowthDeps): Observable<T> {
  const { name, flex } = layout;
  const { heldVolumes } = (flex === undefined ? deps.kinds.csi : deps.kinds.flex) ?? {};
  const volume = heldVolumes?.of(holderOf(deps.uid, name))?.volume;
  if (flex !== undefined && volume === undefined) return operation$;
  return volume === undefined ? deps.turns.run(deviceOf(layout), operation$) : volume.turns.run(operation$);
}
