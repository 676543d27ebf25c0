/** Formats a pressure view as text of 80 columns: the output of `rxlet pressure`. */
import { durationText, oneLine } from "../telemetry/plainText.ts";
import type { ReclaimableImages } from "../image/reclaimableImages.ts";
import type {
  DecisionView,
  EvictionOrder,
  PressureView,
  ReclaimView,
  SignalView,
  ThresholdView,
} from "./pressureView.ts";
import { shortAmount } from "./shortAmount.ts";

const COLUMNS = 80;
/** Width of the names of images. */
const IMAGE_COLUMNS = 44;
/** Looks may be up to 10 s old; an older one is pointed out. */
const STALE_SECONDS = 15;

/** Returns lines ending in a newline. */
export function pressureText({ at, conditions, signals, eviction, reclaim, lastDecision }: PressureView): string {
  return [
    `${conditions.length === 0 ? "No pressure" : conditions.join(", ")}, at ${at}`,
    "",
    ...(signals.length === 0 ? ["No eviction threshold is set."] : signalLines(signals)),
    "",
    ...reclaimLines(reclaim),
    "",
    ...evictionLines(eviction),
    ...(lastDecision === undefined ? [] : ["", ...decisionLines(lastDecision)]),
    "",
  ].join("\n");
}

const HEADER = ["SIGNAL", "AVAILABLE", "THRESHOLD", "DISTANCE", "PER MINUTE"];
const WIDTHS = [28, 10, 15, 10, 10];

const row = (cells: readonly string[]): string =>
  cells
    .map((cell, column) => (column === 0 ? cell.padEnd(WIDTHS[0] ?? 0) : cell.padStart(WIDTHS[column] ?? 0)))
    .join(" ")
    .trimEnd();

function signalLines(signals: readonly SignalView[]): readonly string[] {
  return [row(HEADER), ...signals.flatMap((view) => [...thresholdLines(view), ...noteLines(view)])];
}

function thresholdLines({ signal, unit, measured, changePerMinute, thresholds }: SignalView): readonly string[] {
  const amount = (value: number | undefined): string => (value === undefined ? "-" : shortAmount(value, unit));
  return thresholds.map(({ kind, amount: least, distance }, index) => {
    const own = index === 0 ? [signal, amount(measured?.available)] : ["", ""];
    return row([
      ...own,
      `${kind} ${amount(least)}`,
      amount(distance),
      index === 0 ? change(changePerMinute, unit) : "",
    ]);
  });
}

const change = (perMinute: number | undefined, unit: SignalView["unit"]): string =>
  perMinute === undefined ? "-" : `${perMinute > 0 ? "+" : ""}${shortAmount(perMinute, unit)}`;

function noteLines({ measured, thresholds }: SignalView): readonly string[] {
  const stale =
    measured !== undefined && measured.secondsAgo > STALE_SECONDS
      ? [`  measured ${durationText(measured.secondsAgo)} ago`]
      : [];
  return [...(measured === undefined ? ["  not measured"] : stale), ...thresholds.flatMap(metLine)];
}

function metLine({ kind, metSeconds, graceSeconds }: ThresholdView): readonly string[] {
  if (metSeconds === undefined) return [];
  const grace = graceSeconds === undefined ? "" : `, grace period ${durationText(graceSeconds)}`;
  return [`  ${kind} threshold met for ${durationText(metSeconds)}${grace}`];
}

function reclaimLines(view: ReclaimView | undefined): readonly string[] {
  const title = "Removed first when a disk is short";
  if (view === undefined) return [title, "  unknown: the runtime lists no containers or images"];
  return [title, `  ${counted(view.deadContainers, "exited container")}`, ...imageLines(view.images)];
}

function imageLines({ unused, kept }: ReclaimableImages): readonly string[] {
  return [
    `  ${counted(unused.count, "unused image")}${sizeOf(unused)}`,
    ...unused.first.map(({ name, bytes }) => imageLine(name, bytes, "")),
    ...moreLine(unused.count - unused.first.length),
    "",
    `Kept: ${counted(kept.count, "image")}${sizeOf(kept)}`,
    ...kept.first.map(({ name, bytes, reason }) => imageLine(name, bytes, reason)),
    ...moreLine(kept.count - kept.first.length),
  ];
}

function imageLine(name: string, bytes: number, reason: string): string {
  const line = `    ${fitted(name, IMAGE_COLUMNS).padEnd(IMAGE_COLUMNS)} ${shortAmount(bytes, "bytes").padStart(6)}  `;
  if (line.length + reason.length <= COLUMNS) return `${line}${oneLine(reason)}`.trimEnd();
  return `${line.trimEnd()}\n      ${fitted(reason, COLUMNS - 6)}`;
}

const sizeOf = ({ count, bytes }: { readonly count: number; readonly bytes: number }): string =>
  count === 0 ? "" : `, up to ${shortAmount(bytes, "bytes")}`;

function evictionLines({ signal, pods, more, problem }: EvictionOrder): readonly string[] {
  const title = `Evicted first${signal === undefined ? "" : ` for ${signal}`}`;
  if (problem !== undefined) return [title, `  ${fitted(problem, COLUMNS - 2)}`];
  const width = String(pods.length).length;
  return [
    title,
    ...(pods.length === 0 ? ["  no pods"] : []),
    ...pods.flatMap(({ namespace, name, reason }, index) => {
      const line = `  ${String(index + 1).padStart(width)}  ${fitted(`${namespace}/${name}`, COLUMNS - width - 4)}`;
      const isShort = line.length + 2 + reason.length <= COLUMNS;
      const indent = width + 6;
      return isShort ? [`${line}  ${reason}`] : [line, " ".repeat(indent) + fitted(reason, COLUMNS - indent)];
    }),
    ...moreLine(more),
  ];
}

function decisionLines({
  at,
  signal,
  available,
  threshold,
  reclaimed,
  evicted,
  more,
}: DecisionView): readonly string[] {
  const figures = available === undefined || threshold === undefined ? "" : ` was ${available}, less than ${threshold}`;
  return [
    `Last action at ${at}`,
    `  ${fitted(signal + figures, COLUMNS - 2)}`,
    ...reclaimed.map((step) => `  removed unused ${step}`),
    ...evicted.flatMap(({ namespace, name, message }) => [
      `  evicted ${fitted(`${namespace}/${name}`, COLUMNS - 10)}`,
      `    ${fitted(message, COLUMNS - 4)}`,
    ]),
    ...moreLine(more),
    ...(reclaimed.length + evicted.length === 0 ? ["  nothing was removed or evicted"] : []),
  ];
}

const moreLine = (count: number): readonly string[] => (count <= 0 ? [] : [`    and ${count} more`]);

const counted = (count: number, noun: string): string =>
  `${count === 0 ? "no" : count} ${noun}${count === 1 ? "" : "s"}`;

/** Cuts a text in the middle: the ends of names differ most. */
function fitted(text: string, columns: number): string {
  const line = oneLine(text);
  if (line.length <= columns) return line;
  const head = Math.floor((columns - 1) / 2);
  return `${line.slice(0, head)}…${line.slice(line.length - (columns - 1 - head))}`;
}
