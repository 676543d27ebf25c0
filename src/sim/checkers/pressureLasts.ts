/**
 * A pressure condition that was true becomes false only after the transition period without a figure below a
 * threshold, by the figures that this process of the kubelet was given. A report may be late while the API server is
 * away. A collection of images measures the disk too, and may free at once what it found missing: no look at the signals
 * has seen that.
 */
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { SimChecker } from "../simChecker.ts";
import { hasDiskPressure, hasMemoryPressure, hasPidPressure, isRootDisk } from "./measuredPressure.ts";

/** The resource of each event that reports the end of a pressure. */
const ENDS: Readonly<Record<string, "disk" | "memory" | "pid">> = {
  NodeHasSufficientMemory: "memory",
  NodeHasNoDiskPressure: "disk",
  NodeHasSufficientPID: "pid",
};
/** Time for late reports after the API server has returned. */
const LATE_MS = 60_000;

/** A figure may be older than the decision that it leads to: all figures of a look are judged together. */
const LOOK_MS = 25_000;

type Config = Pick<KubeletConfig, "evictionThresholds" | "pressureTransitionMs">;

/** Longest time between the figure of a collection of images and the removal of the image. */
const COLLECTED_MS = 1_000;

/** The last figure of a resource. */
interface Figure {
  readonly isLow: boolean;
  readonly lastLowMs: number;
  /** The first of the last low figures in a row, and the last low figure before it. */
  readonly lowSinceMs: number;
  readonly earlierLowMs: number;
}

const UNKNOWN: Figure = { isLow: false, lastLowMs: -Infinity, lowSinceMs: -Infinity, earlierLowMs: -Infinity };

function withFigure(before: Figure, isLow: boolean, atMs: number): Figure {
  if (!isLow) return { ...before, isLow };
  const isFirst = !before.isLow;
  return {
    isLow,
    lastLowMs: atMs,
    lowSinceMs: isFirst ? atMs : before.lowSinceMs,
    earlierLowMs: isFirst ? before.lastLowMs : before.earlierLowMs,
  };
}

/** Returns the figures after an image was removed: low ones just before it may be those of the collection alone. */
const withoutCollection = (figure: Figure, atMs: number): Figure =>
  atMs - figure.lowSinceMs > COLLECTED_MS
    ? figure
    : { ...UNKNOWN, isLow: figure.isLow, lastLowMs: figure.earlierLowMs, earlierLowMs: figure.earlierLowMs };

export function pressureLasts({ evictionThresholds, pressureTransitionMs }: Config): SimChecker {
  const figures = { disk: UNKNOWN, memory: UNKNOWN, pid: UNKNOWN };
  let reachableSinceMs = -Infinity;
  return {
    name: "pressureLasts",
    sees: ["measured", "event", "kubelet", "apiServer", "change"],
    check(observation) {
      const { atMs } = observation;
      const note = (resource: keyof typeof figures, isLow: boolean): void => {
        figures[resource] = withFigure(figures[resource], isLow, atMs);
      };
      if (observation.kind === "kubelet") Object.assign(figures, { disk: UNKNOWN, memory: UNKNOWN, pid: UNKNOWN });
      if (observation.kind === "apiServer") reachableSinceMs = observation.isUp ? atMs : Infinity;
      if (observation.kind === "measured") {
        const { measurement } = observation;
        if (isRootDisk(measurement)) note("disk", hasDiskPressure(measurement, evictionThresholds));
        if (measurement.what === "memory") note("memory", hasMemoryPressure(measurement, evictionThresholds));
        if (measurement.what === "pids") note("pid", hasPidPressure(measurement, evictionThresholds));
      }
      if (observation.kind === "change" && observation.change.kind === "image removed") {
        figures.disk = withoutCollection(figures.disk, atMs);
      }
      if (observation.kind !== "event") return undefined;
      const resource = ENDS[observation.event.reason];
      if (resource === undefined || atMs - reachableSinceMs < LATE_MS) return undefined;
      const { isLow, lastLowMs } = figures[resource];
      // A low figure that is newer than the report belongs to the next pressure.
      if (isLow || atMs - lastLowMs >= pressureTransitionMs - LOOK_MS) return undefined;
      return `${resource} pressure ended ${(atMs - lastLowMs) / 1000} s after the last figure below a threshold`;
    },
  };
}
