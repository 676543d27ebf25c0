/** The node as the live view shows it. */
import type { PressureView, SignalView } from "../eviction/pressureView.ts";
import type { HardwareView } from "../hardwareView/hardwareView.ts";
import type { Summary } from "../stats/summary.ts";
import type { LiveCalls, LiveNode, LiveSignal, LiveUsage } from "./liveMessages.ts";

/** Facts of a node, as far as they are known. */
export interface NodeFigures {
  readonly at: number;
  readonly problems: readonly string[];
  readonly summary: Summary | undefined;
  readonly cpuCapacityMillis: number | undefined;
  readonly memoryCapacityBytes: number | undefined;
  readonly pressure: PressureView | undefined;
  readonly hardware: HardwareView;
  readonly calls: readonly LiveCalls[];
}

/** Returns the message about them. */
export const liveNode = ({ at, problems, summary, pressure, hardware, calls, ...capacity }: NodeFigures): LiveNode => ({
  ...{ kind: "node", at, problems, calls },
  usage: usageOf(summary, capacity),
  pressures: pressure?.conditions ?? [],
  signals: (pressure?.signals ?? []).map(signalOf),
  evictionOrder: (pressure?.eviction.pods ?? []).map(({ namespace, name }) => `${namespace}/${name}`),
  devices: hardware.devices.map(({ resource, total, free, unhealthyCount }) => ({
    resource,
    total,
    used: Math.max(0, total - free - unhealthyCount),
  })),
});

const NANOS_PER_MILLI = 1_000_000;

function usageOf(
  summary: Summary | undefined,
  { cpuCapacityMillis, memoryCapacityBytes }: Pick<NodeFigures, "cpuCapacityMillis" | "memoryCapacityBytes">,
): LiveUsage {
  const { cpu, memory, fs } = summary?.node ?? {};
  return present({
    cpuMillis: cpu?.usageNanoCores === undefined ? undefined : Number(cpu.usageNanoCores) / NANOS_PER_MILLI,
    cpuCapacityMillis,
    memoryBytes: memory?.workingSetBytes,
    memoryCapacityBytes,
    diskBytes: fs?.usedBytes,
    diskCapacityBytes: fs?.capacityBytes,
  });
}

const present = (figures: Readonly<Record<keyof LiveUsage, number | undefined>>): LiveUsage =>
  Object.fromEntries(Object.entries(figures).filter(([, figure]) => figure !== undefined));

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
