/**
 * Wakes the eviction manager when a threshold was crossed, well before its next look. Each figure with a threshold is
 * measured in a loop of its own, as often as core/eviction/pacing.ts finds necessary; the port `memoryEvents` adds
 * events of the kernel. Writes the cell `signalLooks`. Bound: one measurement per figure at a time; one that hangs, such
 * as a file system that does not answer, occupies one thread and delays no other figure. Upstream:
 * threshold_notifier_linux.go of pkg/kubelet/eviction, for memory only.
 */
import { catchError, defer, EMPTY, merge, type Observable, of, switchMap, tap } from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import { type Observations, observationsOf, type PressureFigures } from "../../core/eviction/observations.ts";
import type { DiskLayout } from "../../core/eviction/nodeReclaim.ts";
import { afterNoLookMs, type PacedLook, pacedLook, type Paces } from "../../core/eviction/pacing.ts";
import type { SignalLooks } from "../../core/eviction/pressureView.ts";
import { nextTrend } from "../../core/eviction/trend.ts";
import { eachOf } from "../../operators/eachOf.ts";
import { orElse } from "../../operators/orElse.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import type { MonotonicMs } from "../../core/ids.ts";
import type { Call } from "../../ports/call.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Cell } from "../../state/cell.ts";
import { createDiskLookup } from "../stats/diskPlaces.ts";
import { type ObservationConfig, type ObservationPorts, podsCgroup, signalFigures } from "./observeSignals.ts";

type Ports = ObservationPorts & Pick<KubeletPorts, "machine" | "memoryEvents">;

/**
 * Emits when a look finds a threshold met that the look before did not, and on memory events.
 *
 *     available, threshold 100    500      300   90   80        200   90
 *     looks                       L--------L--L--L----L---------L--L--L
 *     wakes                       ---------------w--------------------w
 *
 * Cancels: the measurements. Errors: none; a figure that cannot be measured is measured again after 10 s.
 */
export function pressureWakes(ports: Ports, config: ObservationConfig, looks: Cell<SignalLooks>): Observable<unknown> {
  if (config.evictionThresholds.length === 0) return EMPTY;
  const { log } = ports.telemetry;
  const crossings$ = merge(
    ...measurements(ports, config).map((measurement) => crossings(measurement, ports, config, looks)),
  );
  const events$ = ports.memoryEvents?.(podsCgroup(config)) ?? EMPTY;
  return merge(
    crossings$.pipe(
      tap(({ crossed }) => log.debug("pressureWakes", "Eviction manager: woken by a look", { signals: crossed })),
    ),
    events$.pipe(tap((event) => log.debug("pressureWakes", "Eviction manager: woken by the kernel", { event }))),
  );
}

/** A measurement with a loop of its own. */
interface Measurement {
  readonly name: string;
  readonly call$: Call<unknown>;
  /** Returns the figures that its value gives. */
  figures(value: unknown): PressureFigures;
}

/** Returns a measurement for each figure. One measurement gives both disks if images lie on the disk of the node. */
function measurements(ports: Ports, config: ObservationConfig): readonly Measurement[] {
  const lookup = createDiskLookup(ports, config);
  const calls = signalFigures(ports, config, lookup);
  const all = Object.entries<Call<unknown>>(calls).map(
    ([name, call$]): Measurement => ({ name, call$, figures: (value) => ({ [name]: value }) }),
  );
  const { nodeFs, imageFs } = calls;
  if (nodeFs === undefined || imageFs === undefined) return all;
  let isShared = false;
  /** True once a look at the disk of the node has given both: its pace counts the signals of images from then on. */
  let isCovered = false;
  const noteLayout = ({ hasImageFs }: Pick<DiskLayout, "hasImageFs">): Call<unknown> => {
    isShared = !hasImageFs;
    return imageFs;
  };
  // Without a layout the figure is measured: the cause of the failure is reported there.
  const ownImageFs$ = defer(() =>
    isCovered
      ? EMPTY
      : lookup.layout$.pipe(
          orElse(() => of({ hasImageFs: true })),
          switchMap(noteLayout),
        ),
  );
  return all.map((measurement): Measurement => {
    if (measurement.name === "imageFs") return { ...measurement, call$: ownImageFs$ };
    if (measurement.name !== "nodeFs") return measurement;
    return {
      ...measurement,
      figures: (value) => {
        const space = value as PressureFigures["nodeFs"];
        isCovered = isShared;
        return isShared ? { nodeFs: space, imageFs: space } : { nodeFs: space };
      },
    };
  });
}

function crossings(
  { name, call$, figures }: Measurement,
  { clock, machine, telemetry }: Ports,
  { evictionThresholds }: ObservationConfig,
  looks: Cell<SignalLooks>,
): Observable<PacedLook> {
  return defer(() => {
    let paces: Paces = new Map();
    /** Undefined until the current measurement has given a value. */
    let nextInMs: number | undefined;
    /** Returns the look as a list if it finds a threshold met that the look before did not. */
    const look = (figure: unknown, at: MonotonicMs): readonly PacedLook[] => {
      const observations = observationsOf(figures(figure), at);
      looks.set(withLooks(looks.value, observations));
      const settings = { now: clock.monotonicMs(), cpuCount: machine.cpuCount };
      const paced = pacedLook(paces, evictionThresholds, observations, settings);
      ({ paces, nextInMs } = paced);
      return paced.crossed.length > 0 ? [paced] : [];
    };
    // Few operators: a figure close to its threshold is measured every 200 to 900 ms.
    const measured = (at: MonotonicMs): Observable<PacedLook> => {
      nextInMs = undefined;
      return call$.pipe(
        eachOf((figure) => look(figure, at)),
        catchError((thrown: unknown) => {
          telemetry.log.debug("pressureWakes", "A figure with eviction thresholds cannot be measured", {
            figure: name,
            error: toKubeletError(thrown),
          });
          return EMPTY;
        }),
      );
    };
    return pollAfter(
      clock,
      () => nextInMs ?? afterNoLookMs(clock.monotonicMs()),
      () => measured(clock.monotonicMs()),
    );
  });
}

function withLooks(before: SignalLooks, observations: Observations): SignalLooks {
  const after = new Map(before);
  for (const [signal, observation] of observations) {
    const trend = nextTrend(before.get(signal)?.trend, observation);
    after.set(signal, { observation, trend });
  }
  return after;
}
