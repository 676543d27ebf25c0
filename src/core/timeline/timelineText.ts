/** A served timeline as text for people: what `rxlet explain` prints. */
import { RETRY_AT } from "../pod/crashLoopSteering.ts";
import { durationText, oneLine } from "../telemetry/plainText.ts";
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
  const due = next === undefined ? "" : `; ${next.what} at ${next.at}, in ${durationText(next.inSeconds)}`;
  const lasting = seconds === undefined ? "" : `, for ${durationText(seconds)}`;
  const line = `  ${what}${where}${lasting}${due}`;
  return cause === undefined ? [line] : [line, `    ${oneLine(cause)}`];
}

function entryLines(entries: readonly EntryView[]): readonly string[] {
  const rows = entries.map((entry) => ({
    at: entry.at,
    took: entry.seconds === undefined ? "" : durationText(entry.seconds),
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
