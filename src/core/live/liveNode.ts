/** The node as the live view shows it. */
import type { PressureView, ReclaimView, SignalView } from "../eviction/pressureView.ts";
import type { HardwareView } from "../hardwareView/hardwareView.ts";
import {
  type LiveCalls,
  type LiveGarbage,
  type LiveNode,
  type LiveSignal,
  type LiveSourceHealth,
  type LiveUsage,
  MAX_SOURCES,
  MAX_TEXT,
} from "./liveMessages.ts";

/** Facts of a node, as far as they are known. */
export interface NodeFigures {
  readonly at: number;
  readonly problems: readonly string[];
  readonly usage: LiveUsage;
  readonly pressure: PressureView | undefined;
  readonly hardware: HardwareView;
  readonly calls: readonly LiveCalls[];
  readonly sources: readonly LiveSourceHealth[];
}

/** Returns the message about them. */
export const liveNode = ({ at, problems, usage, pressure, hardware, calls, sources }: NodeFigures): LiveNode => ({
  ...{ kind: "node", at, problems, calls, usage },
  pressures: pressure?.conditions ?? [],
  signals: (pressure?.signals ?? []).map(signalOf),
  evictionOrder: (pressure?.eviction.pods ?? []).map(({ namespace, name }) => `${namespace}/${name}`),
  devices: hardware.devices.map(({ resource, total, free, unhealthyCount }) => ({
    resource,
    total,
    used: Math.max(0, total - free - unhealthyCount),
  })),
  ...(pressure?.reclaim === undefined ? {} : { garbage: garbageOf(pressure.reclaim) }),
  ...(sources.length === 0 ? {} : { sources: sourcesOf(sources) }),
});

const garbageOf = ({ deadContainers, images: { unused, kept } }: ReclaimView): LiveGarbage => ({
  unusedImages: unused.count,
  unusedBytes: unused.bytes,
  keptImages: kept.count,
  keptBytes: kept.bytes,
  deadContainers,
});

/** Orders sources: those that are down, then those that were reopened most, then by name. */
const sourcesOf = (sources: readonly LiveSourceHealth[]): readonly LiveSourceHealth[] =>
  sources
    .toSorted((a, b) => Number(a.isUp) - Number(b.isUp) || b.restarts - a.restarts || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_SOURCES)
    .map((source) => ({ ...source, name: source.name.slice(0, MAX_TEXT) }));

/** Shows the threshold that is met, else the closest one. */
function signalOf({ signal, unit, measured, thresholds }: SignalView): LiveSignal {
  const met = thresholds.find(({ metSeconds }) => metSeconds !== undefined);
  const [closest] = thresholds.toSorted((a, b) => (a.distance ?? Infinity) - (b.distance ?? Infinity));
  const shown = met ?? closest;
  return {
    name: signal,
    available: measured === undefined ? "not measured" : amountText(measured.available, unit),
    threshold: shown?.amount === undefined ? "" : amountText(shown.amount, unit),
    isMet: met !== undefined,
  };
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

function amountText(amount: number, unit: SignalView["unit"]): string {
  if (unit !== "bytes") return `${amount}`;
  const step = amount < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(amount) / 10));
  const value = amount / 1024 ** step;
  return `${value < 10 && step > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[step]}`;
}
