/** The node in `rxlet top`: usage, pressure, garbage, devices and calls. Pure. */
import type { LiveGarbage, LiveNode, LiveUsage } from "../../core/live/liveMessages.ts";
import { counted, shown, shownTable } from "./topText.ts";

const GIB = 1_024 ** 3;
const MILLI = 1_000;

/** Returns the lines of the view. */
export function nodeLines(node: LiveNode | undefined): readonly string[] {
  if (node === undefined) return ["Nothing measured yet."];
  const { usage, problems, pressures, signals, evictionOrder, garbage, devices, calls } = node;
  return [
    ...problems.map((problem) => `! ${shown(problem)}`),
    ...usageLines(usage),
    `pressure  ${shown(pressures.join(", ")) || "none"}`,
    "",
    ...shownTable([
      ["SIGNAL", "AVAILABLE", "THRESHOLD", ""],
      ...signals.map(({ name, available, threshold, isMet }) => [name, available, threshold, isMet ? "met" : ""]),
    ]),
    `evicted first: ${shown(evictionOrder.join(", ")) || "no pod"}`,
    ...(garbage === undefined ? [] : [garbageLine(garbage)]),
    ...devices.map(({ resource, used, total }) => `${shown(resource)}  ${used} of ${total} in use`),
    "",
    ...shownTable([
      ["CALL", "COUNT", "FAILED", "MEAN MS", "MAX MS"],
      ...calls.map(({ target, name, count, failed, meanMs, maxMs }) => [
        `${target} ${name}`,
        ...[count, failed].map(String),
        ...[meanMs, maxMs].map((ms) => ms?.toFixed(1) ?? ""),
      ]),
    ]),
  ];
}

const garbageLine = ({ unusedImages, unusedBytes, keptImages, keptBytes, deadContainers }: LiveGarbage): string =>
  `garbage: ${counted(unusedImages, "unused image")}, at most ${gib(unusedBytes)}; ` +
  `${counted(deadContainers, "dead container")}; kept: ${counted(keptImages, "image")}, ${gib(keptBytes)}`;

const gib = (bytes: number): string => `${(bytes / GIB).toFixed(2)} GiB`;

function usageLines(usage: LiveUsage): readonly string[] {
  const { cpuMillis, cpuCapacityMillis, memoryBytes, memoryCapacityBytes, diskBytes, diskCapacityBytes } = usage;
  return [
    amountLine("CPU", cpuMillis, cpuCapacityMillis, MILLI, "cores"),
    amountLine("memory", memoryBytes, memoryCapacityBytes, GIB, "GiB"),
    amountLine("disk", diskBytes, diskCapacityBytes, GIB, "GiB"),
  ].flatMap((line) => line ?? []);
}

const BAR = 20;

function amountLine(
  name: string,
  used: number | undefined,
  capacity: number | undefined,
  unit: number,
  unitName: string,
): string | undefined {
  if (used === undefined) return undefined;
  if (capacity === undefined || capacity <= 0) return `${name.padEnd(8)}  ${(used / unit).toFixed(2)} ${unitName}`;
  const filled = Math.max(0, Math.min(BAR, Math.round((used / capacity) * BAR)));
  const bar = `${"#".repeat(filled)}${".".repeat(BAR - filled)}`;
  return `${name.padEnd(8)}  [${bar}] ${(used / unit).toFixed(2)} of ${(capacity / unit).toFixed(2)} ${unitName}`;
}
