/**
 * Statistics of CSI volumes, asked of their drivers at most once in a period. A call continues after its callers have
 * left; meanwhile they get the last known figures. Owns the last answers. Bounds: one call for a volume at a time;
 * CALLS_AT_ONCE calls to a driver, not counting those that have hung for SLOT_MS; upstream's deadline for each call;
 * the patience of patiently.ts for its callers. Upstream: csi_metrics.go, in the background of volumeStatCalculator.
 *
 *     figures --> lane of the driver --> NodeGetVolumeStats --> checked --> last answer
 *        |                                                                     |
 *        +------------- after a second, or while the call hangs ---------------+
 */
import { catchError, defer, map, type Observable, of, tap } from "rxjs";
import type { CsiDrivers } from "../../core/csi/csiDriverFacts.ts";
import { type CsiLayout, statsPath } from "../../core/csi/csiVolumeLayout.ts";
import { csiVolumeFigures, type CsiVolumeFigures, volumeStatsRequest } from "../../core/csi/csiVolumeStats.ts";
import { toKubeletError } from "../../core/errors.ts";
import { createLastingRuns } from "../../operators/lastingRuns.ts";
import { createSemaphore, type Semaphore } from "../../operators/semaphore.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { ReadonlyCell } from "../../state/cell.ts";
import { timed } from "./measuredFigure.ts";
import { patiently } from "./patiently.ts";

/** Figures of CSI volumes. */
export interface CsiStats {
  /** Keeps calls running while subscribed. Never emits. */
  readonly run$: Observable<never>;
  /**
   * Emits the figures of a published volume; undefined while there are none: its driver gives none, has not answered yet,
   * or its last answer cannot be used. Never errors.
   */
  figures(csi: CsiLayout): Observable<CsiVolumeFigures | undefined>;
  /** Forgets volumes without a request for FORGOTTEN_AFTER_MS. */
  prune(): void;
}

type Ports = Pick<KubeletPorts, "csiDrivers" | "clock" | "telemetry">;

const CALLS_AT_ONCE = 4;
/** A volume whose storage is gone delays the other volumes of its driver by this time at most. */
const SLOT_MS = 5_000;
const FORGOTTEN_AFTER_MS = 600_000;
const NEVER = Number.NEGATIVE_INFINITY;

/** A volume and its last figures. */
interface Measured {
  csi: CsiLayout;
  figures: CsiVolumeFigures | undefined;
  answeredAt: number;
  /** Start of the current call, or of its wait for a slot; else of the last one. */
  beganAt: number;
  askedAt: number;
}

/** Settings of the figures. */
export interface CsiStatsConfig {
  /** Figures of this age or more are asked for again. */
  readonly periodMs: number;
  /** Figures include the conditions of volumes. */
  readonly includesHealth: boolean;
}

/** Creates the figures; calls no driver before the first request. */
export function createCsiStats(ports: Ports, drivers: ReadonlyCell<CsiDrivers>, config: CsiStatsConfig): CsiStats {
  const { periodMs } = config;
  const { clock } = ports;
  const volumes = new Map<string, Measured>();
  const lanes = new Map<string, Semaphore>();
  const noted = (csi: CsiLayout): Measured => {
    const key = `${csi.driver} ${statsPath(csi)}`;
    const volume = volumes.get(key) ?? { csi, figures: undefined, answeredAt: NEVER, beganAt: NEVER, askedAt: NEVER };
    volumes.set(key, Object.assign(volume, { csi, askedAt: clock.monotonicMs() }));
    return volume;
  };
  const laneOf = (driver: string): Semaphore => {
    const lane = lanes.get(driver) ?? createSemaphore(CALLS_AT_ONCE, { ms: SLOT_MS, clock });
    lanes.set(driver, lane);
    return lane;
  };
  const runs = createLastingRuns((volume: Measured) =>
    defer(() => {
      volume.beganAt = clock.monotonicMs();
      return laneOf(volume.csi.driver).run(ask(volume.csi, drivers, ports, config));
    }).pipe(tap((figures) => Object.assign(volume, { figures, answeredAt: clock.monotonicMs() }))),
  );
  return {
    run$: runs.run$,
    prune() {
      const now = clock.monotonicMs();
      for (const [key, volume] of volumes) {
        if (now - volume.askedAt > FORGOTTEN_AFTER_MS && !runs.isRunning(volume)) volumes.delete(key);
      }
      for (const [driver, lane] of lanes) if (lane.running + lane.waiting === 0) lanes.delete(driver);
    },
    figures: (csi) =>
      defer(() => {
        const volume = noted(csi);
        if (drivers.value.get(csi.driver)?.capabilities.has("GET_VOLUME_STATS") !== true) return of(undefined);
        const now = clock.monotonicMs();
        const isRunning = runs.isRunning(volume);
        if (!isRunning && now - volume.answeredAt < periodMs) return of(volume.figures);
        const askedForMs = isRunning ? now - volume.beganAt : 0;
        return patiently({ answer$: runs.join(volume), askedForMs, last: () => volume.figures, clock });
      }),
  };
}

/** Asks the driver. Emits undefined instead of an error. */
function ask(
  csi: CsiLayout,
  drivers: ReadonlyCell<CsiDrivers>,
  { csiDrivers, clock, telemetry }: Ports,
  { includesHealth }: CsiStatsConfig,
): Observable<CsiVolumeFigures | undefined> {
  const { driver, handle } = csi;
  return defer(() => {
    const facts = drivers.value.get(driver);
    if (facts === undefined || csiDrivers === undefined) return of(undefined);
    const figures$ = csiDrivers
      .at(facts)
      .nodeGetVolumeStats(volumeStatsRequest(csi))
      .pipe(
        map((answer) => {
          const found = csiVolumeFigures(answer, includesHealth && facts.capabilities.has("VOLUME_CONDITION"));
          if (!found.ok) throw found.error;
          return found.value;
        }),
      );
    return timed(figures$, () => driver, { clock, telemetry });
  }).pipe(
    catchError((thrown: unknown) => {
      telemetry.log.debug("csiStats", "A CSI driver gives no statistics", {
        driver,
        handle,
        error: toKubeletError(thrown),
      });
      return of(undefined);
    }),
  );
}
