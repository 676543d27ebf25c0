/** A pod's timeline as bars over time. */
import { useSignal } from "@preact/signals";
import type { TimelineView } from "../../core/timeline/timelineView.ts";
import { type BarGroup, fittingSpan, type PodBar, type PodBars, podBars, SPANS_MS } from "../model/podBars.ts";
import { shownCountdown, shownDuration, shownTimeOfDay } from "../model/shownFigures.ts";
import { shownText } from "../model/shownText.ts";
import { tickStep } from "../model/timeWindow.ts";
import { usePage } from "../page.ts";
import { useWidth } from "./useWidth.ts";

const ROW = 20;
const GROUP_GAP = 8;
const AXIS = 22;
const GUTTER = 104;
/** Width of a character of a label in a bar. */
const CHARACTER = 6.8;
/** Room that a countdown takes. */
const DUE_ROOM = 44;

const KINDS = [
  ["run", "runs"],
  ["call", "calls"],
  ["pull", "pulls"],
  ["probe", "probes"],
  ["hook", "hooks"],
  ["wait", "waits"],
  ["backoff", "backoffs"],
  ["mark", "events"],
] as const;

export function PodTimeline({ timeline }: { readonly timeline: TimelineView }) {
  const page = usePage();
  const chosenSpan = useSignal<number | undefined>(undefined);
  const [box, width] = useWidth();
  // Bars need no more than one look a second.
  const now = Math.floor(page.clock.value / 1000) * 1000;
  const span = chosenSpan.value ?? fittingSpan(timeline, now);
  const bars = podBars(timeline, now, span);
  return (
    <section class="timeline" aria-label="Timeline">
      <h3>Timeline</h3>
      <div class="tools">
        <span class="choice">
          {SPANS_MS.map((ms) => (
            <button key={ms} type="button" aria-pressed={ms === span} onClick={() => (chosenSpan.value = ms)}>
              {spanText(ms)}
            </button>
          ))}
        </span>
        <ul class="legend">
          {KINDS.map(([kind, text]) => (
            <li key={kind}>
              <span class={`swatch ${kind}`} aria-hidden="true" />
              {text}
            </li>
          ))}
        </ul>
      </div>
      <div class="bars" ref={box}>
        {width > 0 && <Bars bars={bars} width={width} now={now} />}
      </div>
    </section>
  );
}

const spanText = (ms: number): string => (ms < 3_600_000 ? `${ms / 60_000} min` : `${ms / 3_600_000} h`);

function Bars({ bars, width, now }: { readonly bars: PodBars; readonly width: number; readonly now: number }) {
  const tops: number[] = [];
  let height = AXIS;
  for (const { rows } of bars.groups) {
    tops.push(height);
    height += rows * ROW + GROUP_GAP;
  }
  const scale = (width - GUTTER) / (bars.to - bars.from);
  const xOf = (at: number): number => GUTTER + Math.max(0, at - bars.from) * scale;
  const step = tickStep(bars.to - bars.from, width - GUTTER, 90);
  const ticks: number[] = [];
  for (let at = Math.ceil(bars.from / step) * step; at < bars.to; at += step) ticks.push(at);
  const said = bars.groups.map(({ container, bars: own }) => `${container || "pod"}: ${own.length}`).join(", ");
  return (
    <svg width={width} height={height} role="img" aria-label={`Bars of the timeline. ${said}`}>
      {ticks.map((at) => (
        <g key={at}>
          <line class="tick" x1={xOf(at)} x2={xOf(at)} y1={AXIS} y2={height} />
          {xOf(at) > GUTTER + 20 && xOf(at) < width - 26 && (
            <text class="time" x={xOf(at)} y={14}>
              {shownTimeOfDay(at)}
            </text>
          )}
        </g>
      ))}
      {bars.groups.map((own, at) => (
        <Group key={own.container} group={own} top={tops[at] ?? 0} width={width} xOf={xOf} now={now} />
      ))}
      <line class="now" x1={xOf(now)} x2={xOf(now)} y1={AXIS - 4} y2={height} />
    </svg>
  );
}

interface GroupProps {
  readonly group: BarGroup;
  readonly top: number;
  readonly width: number;
  readonly now: number;
  readonly xOf: (at: number) => number;
}

function Group({ group, top, width, xOf, now }: GroupProps) {
  return (
    <g>
      <line class="lane" x1={0} x2={width} y1={top - GROUP_GAP / 2} y2={top - GROUP_GAP / 2} />
      <text class="container" x={0} y={top + 14}>
        {shownText(group.container || "pod", 15)}
      </text>
      {group.bars.map((bar, at) => (
        <Bar key={at} bar={bar} y={top + bar.row * ROW} xOf={xOf} now={now} />
      ))}
    </g>
  );
}

interface BarProps {
  readonly bar: PodBar;
  readonly y: number;
  readonly now: number;
  readonly xOf: (at: number) => number;
}

function Bar({ bar, y, xOf, now }: BarProps) {
  const { kind, label, message, from, to, outcome, dueAt } = bar;
  const name = `bar ${kind} ${outcome === undefined ? "" : outcome.replace(" ", "-")}`;
  const x = xOf(from);
  const took = to === from ? "" : `, ${shownDuration(to - from)}`;
  const title = `${shownText(label)}${took}${outcome === undefined ? "" : `, ${outcome}`}\n${shownText(message)}`;
  if (kind === "mark") {
    return (
      <path class={name} d={`M${x} ${y + 4}l5 5l-5 5l-5 -5z`}>
        <title>{`${shownTimeOfDay(from, true)} ${title}`}</title>
      </path>
    );
  }
  const width = Math.max(2, xOf(to) - x);
  const dueX = dueAt === undefined ? undefined : xOf(dueAt);
  return (
    <g class={name}>
      <title>{title}</title>
      {dueX !== undefined && dueX > x + width && (
        <rect class="due" x={x + width} y={y + 1} width={dueX - x - width} height={ROW - 4} />
      )}
      <rect x={x} y={y + 1} width={width} height={ROW - 4} rx={2} />
      <BarText text={shownText(label, 60)} x={x} y={y + 13} width={width} />
      {dueX !== undefined && dueX - x - width > DUE_ROOM && (
        <text class="due" x={x + width + 6} y={y + 13}>
          {shownCountdown(dueAt ?? 0, now)}
        </text>
      )}
    </g>
  );
}

interface BarTextProps {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** The name of a bar, if it fits. */
function BarText({ text, x, y, width }: BarTextProps) {
  if (width < text.length * CHARACTER + 8) return null;
  return (
    <text x={x + 5} y={y}>
      {text}
    </text>
  );
}
