/** A pod's timeline as bars: for each container, its runs, steps and waits in rows that do not overlap. */
import type { EntryView, TimelineView, WaitView } from "../../core/timeline/timelineView.ts";
import { parseInstant } from "../../core/time/civilTime.ts";

export type BarKind = "run" | "call" | "pull" | "probe" | "hook" | "wait" | "backoff" | "mark";

export interface PodBar {
  readonly kind: BarKind;
  readonly label: string;
  readonly message: string;
  readonly from: number;
  /** The same instant as `from` for a mark. */
  readonly to: number;
  readonly outcome?: EntryView["outcome"];
  /** The bar goes on. */
  readonly isOpen: boolean;
  /** The timer that ends it. */
  readonly dueAt?: number;
  readonly row: number;
}

/** The bars of a container, or of the pod itself under the name "". */
export interface BarGroup {
  readonly container: string;
  readonly rows: number;
  readonly bars: readonly PodBar[];
}

export interface PodBars {
  readonly from: number;
  readonly to: number;
  readonly groups: readonly BarGroup[];
}

/** Rows of a group; bars beyond lie on the last. */
const MAX_ROWS = 5;
/** Share of the shown time that a mark takes, so that marks at one instant lie below each other. */
const MARK_SHARE = 0.012;

type Bar = Omit<PodBar, "row"> & { readonly container: string };

/** Returns the bars at `now` in the node's time that lie after `now - spanMs`. */
export function podBars(view: Pick<TimelineView, "entries" | "waits">, now: number, spanMs: number): PodBars {
  const waits = view.waits.map((wait) => waitBar(wait, now));
  const due = Math.max(now, ...waits.map(({ dueAt }) => dueAt ?? now));
  const from = now - spanMs;
  // A timer in the far future must not squeeze what has happened.
  const to = Math.min(due, now + spanMs / 2) + spanMs * 0.04;
  const all = [...runBars(view.entries, now), ...view.entries.flatMap(entryBar), ...waits].filter(
    (bar) => bar.to >= from && bar.from <= to,
  );
  const groups = Map.groupBy(all, ({ container }) => container);
  const names = [...groups.keys()].sort((a, b) => (a === "" ? -1 : b === "" ? 1 : a < b ? -1 : 1));
  return { from, to, groups: names.map((container) => group(container, groups.get(container) ?? [], to - from)) };
}

/** Returns the span that shows the latest entries: from the steps that a reader can choose. */
export const SPANS_MS = [120_000, 600_000, 3_600_000, 21_600_000, 86_400_000] as const;

/** Returns the shortest of SPANS_MS that has most of the latest entries. */
export function fittingSpan({ entries }: Pick<TimelineView, "entries">, now: number): number {
  const latest = entries.slice(-24).map(({ at }) => now - (parseInstant(at) ?? now));
  const oldest = latest[0] ?? 0;
  return SPANS_MS.find((span) => span >= oldest) ?? 86_400_000;
}

/** Runs and what is between them take the first row. */
const isMain = ({ kind }: Bar): boolean => kind === "run" || kind === "backoff" || kind === "wait";

function group(container: string, bars: readonly Bar[], rangeMs: number): BarGroup {
  const ends: number[] = [];
  const markMs = rangeMs * MARK_SHARE;
  const placed = bars
    .toSorted((a, b) => Number(isMain(b)) - Number(isMain(a)) || a.from - b.from)
    .map((bar): PodBar => {
      const { container: _, ...rest } = bar;
      const free = ends.findIndex((end) => end <= bar.from);
      const row = free >= 0 ? free : Math.min(ends.length, MAX_ROWS - 1);
      ends[row] = Math.max(ends[row] ?? 0, bar.dueAt ?? bar.to, bar.from + markMs);
      return { ...rest, row };
    });
  return { container, rows: Math.max(1, ends.length), bars: placed };
}

const PROBE = /probe/i;
const HOOK = /hook|poststart|prestop/i;
const BACKOFF = /backoff|retry/i;
const PULL = /pull/i;

function kindOf(what: string, otherwise: BarKind): BarKind {
  if (BACKOFF.test(what)) return "backoff";
  if (PROBE.test(what)) return "probe";
  if (HOOK.test(what)) return "hook";
  return PULL.test(what) ? "pull" : otherwise;
}

function entryBar({
  at,
  what,
  container = "",
  seconds,
  outcome,
  message = "",
  count,
  lastAt,
}: EntryView): readonly Bar[] {
  const from = parseInstant(at);
  // Runs are bars of their own.
  if (from === undefined || (container !== "" && (what === "Running" || what === "Exited"))) return [];
  const lasted = seconds === undefined ? from : from + seconds * 1000;
  const to = count === undefined ? lasted : (parseInstant(lastAt) ?? lasted);
  const times = count === undefined ? "" : ` (${count} times)`;
  const kind = to === from ? "mark" : kindOf(what, "call");
  const more = outcome === undefined ? {} : { outcome };
  return [{ kind, label: `${what}${times}`, message, from, to, container, isOpen: false, ...more }];
}

/** A run lasts from its start to its exit, or goes on. The time between an exit and the next start is a backoff. */
function runBars(entries: readonly EntryView[], now: number): readonly Bar[] {
  const open = new Map<string, number>();
  const exits = new Map<string, number>();
  const found: Bar[] = [];
  for (const { at, what, container, seconds, outcome, message = "" } of entries) {
    const instant = parseInstant(at);
    if (instant === undefined || container === undefined) continue;
    if (what === "Running") {
      open.set(container, instant);
      found.push(...backoffBar(container, exits.get(container), instant));
    }
    if (what !== "Exited") continue;
    const from = open.get(container) ?? instant - (seconds ?? 0) * 1000;
    open.delete(container);
    exits.set(container, instant);
    const more = outcome === undefined ? {} : { outcome };
    found.push({ kind: "run", label: "ran", message, from, to: instant, container, isOpen: false, ...more });
  }
  for (const [container, from] of open) {
    found.push({ kind: "run", label: "running", message: "", from, to: now, container, isOpen: true });
  }
  return found;
}

/** A restart without a backoff takes less. */
const LEAST_BACKOFF_MS = 1_000;

function backoffBar(container: string, from: number | undefined, to: number): readonly Bar[] {
  if (from === undefined || to - from < LEAST_BACKOFF_MS) return [];
  return [{ kind: "backoff", label: "waited", message: "until the next start", from, to, container, isOpen: false }];
}

function waitBar({ what, container = "", cause = "", seconds, next }: WaitView, now: number): Bar {
  const dueAt = next === undefined ? undefined : parseInstant(next.at);
  return {
    kind: kindOf(what, "wait"),
    label: what,
    message: cause,
    from: now - (seconds ?? 0) * 1000,
    to: now,
    container,
    isOpen: true,
    ...(dueAt === undefined ? {} : { dueAt }),
  };
}
