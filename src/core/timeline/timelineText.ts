/** A served timeline as text for people: what `rxlet explain` prints. */
import { RETRY_AT } from "../pod/crashLoopSteering.ts";
import type { EntryView, TimelineView, WaitView } from "./timelineView.ts";

/** Lines ending in a newline: who, what it waits for, what happened. */
export function timelineText(view: TimelineView): string {
  const { pod, state, phase, waits, entries, dropped } = view;
  return [
    `${pod.namespace}/${pod.name}  ${phase ?? "no status yet"}, ${state} since ${view.stateSince}  (UID ${pod.uid})`,
    "",
    `Now, at ${view.at}`,
    ...(waits.length === 0 ? [`  ${NOTHING[state]}`] : waits.flatMap(waitLines)),
    ...(waits.some(({ what }) => BACKOFFS.has(what)) ? [RETRY_HINT] : []),
    "",
    "So far",
    ...(dropped === 0 ? [] : [`  (${dropped} earlier entries are no longer kept)`]),
    ...entryLines(entries),
    "",
  ].join("\n");
}

const NOTHING: Readonly<Record<TimelineView["state"], string>> = {
  waiting: "waits to be accepted",
  rejected: "was refused and does not run",
  syncing: "waits for nothing",
  terminating: "waits for the runtime to show that nothing runs",
  terminated: "is over; kept until it is no longer wanted",
  gone: "is over and removed",
};

/** Waits the pod's owner can cut short. */
const BACKOFFS: ReadonlySet<string> = new Set(["CrashLoopBackOff", "ImagePullBackOff"]);
const RETRY_HINT = `  To retry at once, change the pod's annotation ${RETRY_AT}`;

function waitLines({ what, container, cause, seconds, next }: WaitView): readonly string[] {
  const where = container === undefined ? "" : ` of ${container}`;
  const due = next === undefined ? "" : `; ${next.what} at ${next.at}, in ${duration(next.inSeconds)}`;
  const lasting = seconds === undefined ? "" : `, for ${duration(seconds)}`;
  const line = `  ${what}${where}${lasting}${due}`;
  return cause === undefined ? [line] : [line, `    ${oneLine(cause)}`];
}

function entryLines(entries: readonly EntryView[]): readonly string[] {
  const rows = entries.map((entry) => ({
    at: entry.at,
    took: entry.seconds === undefined ? "" : duration(entry.seconds),
    what: entry.container === undefined ? entry.what : `${entry.what} ${entry.container}`,
    more: [
      [entry.outcome, entry.message].filter((part) => part !== undefined).join(": "),
      entry.count === undefined ? "" : `(${entry.count} times, last at ${entry.lastAt})`,
    ].filter((part) => part !== ""),
  }));
  const tookWidth = Math.max(0, ...rows.map(({ took }) => took.length));
  const whatWidth = Math.max(0, ...rows.map(({ what }) => what.length));
  return rows.map(({ at, took, what, more }) =>
    oneLine(`  ${at}  ${took.padStart(tookWidth)}  ${what.padEnd(whatWidth)}  ${more.join(" ")}`).trimEnd(),
  );
}

/** A duration in seconds: `0.012s`, `1.3s`, `45s`, `3m20s`, `2h5m`. */
function duration(seconds: number): string {
  if (seconds < 1) return `${Number(seconds.toFixed(3))}s`;
  if (seconds < 10) return `${Number(seconds.toFixed(1))}s`;
  const whole = Math.round(seconds);
  if (whole < 120) return `${whole}s`;
  if (whole < 7_200) return `${Math.floor(whole / 60)}m${whole % 60 === 0 ? "" : `${whole % 60}s`}`;
  const minutes = Math.floor(whole / 60);
  return `${Math.floor(minutes / 60)}h${minutes % 60 === 0 ? "" : `${minutes % 60}m`}`;
}

/** Text from elsewhere must neither break the layout nor reach the terminal as a command. */
const oneLine = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
