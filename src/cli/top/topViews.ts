/** The views of `rxlet top` as lines for a terminal. Pure. */
import type { LiveContainer, LiveFlow, LivePart, LivePod, LiveUsage, LiveWait } from "../../core/live/liveMessages.ts";
import { fitLines, type TerminalSize } from "../drawBlock.ts";
import { alignedLines, printable } from "../tableLines.ts";
import { marbleLines } from "./topMarbles.ts";
import type { TopModel } from "./topModel.ts";

/** The views, by the digit that chooses each. */
export const TOP_VIEWS = ["pods", "pipeline", "marbles", "node"] as const;
export type TopView = (typeof TOP_VIEWS)[number];

const NARROW = "  ";

/** Returns the lines of a view at `now` (milliseconds since the epoch), the head of the node first, cut to the screen. */
export function topLines(model: TopModel, view: TopView, size: TerminalSize, now: number): readonly string[] {
  const { graph, problem } = model;
  const title = graph === undefined ? "no node yet" : `node ${printable(graph.node)}  ${printable(graph.version)}`;
  const tabs = TOP_VIEWS.map((name, index) => (name === view ? `[${index + 1} ${name}]` : ` ${index + 1} ${name} `));
  const head = [
    `${title}   ${tabs.join(" ")}   q ends`,
    ...(problem === undefined ? [] : [`! ${printable(problem)}`]),
    "",
  ];
  const body = VIEWS[view](model, size, now);
  return fitLines([...head, ...body], size);
}

const VIEWS: { readonly [V in TopView]: (model: TopModel, size: TerminalSize, now: number) => readonly string[] } = {
  pods: (model, _size, now) => podLines(model.pods?.pods ?? [], now),
  pipeline: ({ graph, flow }) => pipelineLines(graph?.parts ?? [], flow),
  marbles: (model, size, now) => marbleLines(model, size, now),
  node: nodeLines,
};

function podLines(pods: readonly LivePod[], now: number): readonly string[] {
  if (pods.length === 0) return ["No pods."];
  const rows = pods.map(({ namespace, name, phase = "", state, containers, waits, reason, message }) => [
    `${printable(namespace)}/${printable(name)}`,
    readyText(containers),
    printable(phase === "" || CHANGING.has(state) ? state : phase),
    String(containers.reduce((sum, { restarts }) => sum + restarts, 0)),
    printable(waits.map((wait) => waitText(wait, now)).join("; ") || [reason, message].filter(Boolean).join(": ")),
  ]);
  return alignedLines([["POD", "READY", "STATE", "RESTARTS", "WAITS FOR"], ...rows], NARROW);
}

/** States of a pod on the node that say more than its phase. */
const CHANGING: ReadonlySet<string> = new Set(["waiting", "rejected", "terminating"]);

function readyText(containers: readonly LiveContainer[]): string {
  const lasting = containers.filter(({ kind }) => kind !== "init");
  return `${lasting.filter(({ ready }) => ready).length}/${lasting.length}`;
}

/** Describes a wait: `CrashLoopBackOff main, next try in 12s: back-off ...`. */
function waitText({ what, container, cause, next }: LiveWait, now: number): string {
  const timer = next === undefined ? "" : `, ${next.what} in ${secondsUntil(next.at, now)}s`;
  return `${what}${container === undefined ? "" : ` ${container}`}${timer}${cause === undefined ? "" : `: ${cause}`}`;
}

const MS_PER_S = 1_000;
const secondsUntil = (at: number, now: number): number => Math.max(0, Math.ceil((at - now) / MS_PER_S));

function pipelineLines(parts: readonly LivePart[], flow: LiveFlow | undefined): readonly string[] {
  const figures = new Map(flow?.places.map((place) => [place.name, place]));
  const placeText = (name: string): string => {
    const { count = 0, depth, dropped = 0 } = figures.get(name) ?? {};
    const queue = depth === undefined ? "" : ` ${depth} waiting${dropped > 0 ? `, ${dropped} dropped` : ""}`;
    return `${name}${count > 0 ? ` ${count}/s` : ""}${queue}`;
  };
  const rows = parts.map(({ name, reads, writes }) => [
    reads.join(" "),
    `-> ${name} ->`,
    writes.map(placeText).join(", "),
  ]);
  return alignedLines(
    [["READS", "PART", "WRITES"], ...rows.map(([reads = "", part = "", writes = ""]) => [cut(reads), part, writes])],
    NARROW,
  );
}

const MAX_READS = 40;
const cut = (text: string): string => (text.length <= MAX_READS ? text : `${text.slice(0, MAX_READS - 1)}\u2026`);

const GIB = 1_024 ** 3;
const MILLI = 1_000;

function nodeLines({ node }: TopModel): readonly string[] {
  if (node === undefined) return ["Nothing measured yet."];
  const { usage, problems, pressures, signals, evictionOrder, devices, calls } = node;
  return [
    ...problems.map((problem) => `! ${printable(problem)}`),
    ...usageLines(usage),
    `pressure  ${pressures.join(", ") || "none"}`,
    "",
    ...alignedLines(
      [
        ["SIGNAL", "AVAILABLE", "THRESHOLD", ""],
        ...signals.map(({ name, available, threshold, isMet }) => [name, available, threshold, isMet ? "met" : ""]),
      ],
      NARROW,
    ),
    `evicted first: ${evictionOrder.map(printable).join(", ") || "no pod"}`,
    ...devices.map(({ resource, used, total }) => `${printable(resource)}  ${used} of ${total} in use`),
    "",
    ...alignedLines(
      [
        ["CALL", "COUNT", "FAILED", "MEAN MS", "MAX MS"],
        ...calls.map(({ target, name, count, failed, meanMs, maxMs }) => [
          `${target} ${printable(name)}`,
          ...[count, failed].map(String),
          ...[meanMs, maxMs].map((ms) => ms?.toFixed(1) ?? ""),
        ]),
      ],
      NARROW,
    ),
  ];
}

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
  const filled = Math.min(BAR, Math.round((used / capacity) * BAR));
  const bar = `${"#".repeat(filled)}${".".repeat(BAR - filled)}`;
  return `${name.padEnd(8)}  [${bar}] ${(used / unit).toFixed(2)} of ${(capacity / unit).toFixed(2)} ${unitName}`;
}
