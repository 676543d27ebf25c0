/** Formats a served timeline as text, as `rxlet explain` prints it. */
import { RETRY_AT } from "../pod/crashLoopSteering.ts";
import { durationText, oneLine } from "../telemetry/plainText.ts";
import type { EntryView, ProblemView, TimelineView, WaitView } from "./timelineView.ts";

/** Returns lines that end in a newline: the pod, problems of its manifest, its waits, its history. */
export function timelineText(view: TimelineView): string {
  const { pod, state, phase, problems = [], waits, traceId, entries, dropped } = view;
  return [
    `${pod.namespace}/${pod.name}  ${phase ?? "no status yet"}, ${state} since ${view.stateSince}  (UID ${pod.uid})`,
    ...problemLines(problems),
    "",
    `Now, at ${view.at}`,
    ...(waits.length === 0 ? nothingLines(view) : waits.flatMap(waitLines)),
    ...(waits.some(({ what }) => BACKOFFS.has(what)) ? [retryHint(pod)] : []),
    ...(traceId === undefined ? [] : [`  Latest trace: ${traceId}`]),
    "",
    "So far",
    ...(dropped === 0 ? [] : [`  (${dropped} earlier entries are no longer kept)`]),
    ...entryLines(entries),
    "",
  ].join("\n");
}

function problemLines(problems: readonly ProblemView[]): readonly string[] {
  if (problems.length === 0) return [];
  const title = problems.some(({ keepsLastGood }) => keepsLastGood === true)
    ? "Runs the last good version of its manifest, which now has problems"
    : "Problems of its manifest";
  return ["", title, ...problems.map(({ severity, message }) => oneLine(`  ${severity.padEnd(7)}  ${message}`))];
}

const NOTHING: Readonly<Record<TimelineView["state"], string>> = {
  waiting: "waiting to be accepted",
  rejected: "rejected; it does not run",
  syncing: "not waiting for anything",
  terminating: "waiting until the runtime reports no running container",
  terminated: "ended; kept until its manifest or API object is removed",
  gone: "ended and removed",
};

function nothingLines({ state, reason, message }: TimelineView): readonly string[] {
  const why = [reason, message].filter((part) => part !== undefined && part !== "").join(": ");
  return [`  ${NOTHING[state]}`, ...(why === "" ? [] : [`    ${oneLine(why)}`])];
}

/** Waits that the pod's owner can cut short. */
const BACKOFFS: ReadonlySet<string> = new Set(["CrashLoopBackOff", "ImagePullBackOff"]);
const retryHint = ({ namespace, name }: TimelineView["pod"]): string =>
  `  To retry at once: rxlet retry ${namespace}/${name}, or change the pod's annotation ${RETRY_AT}`;

function waitLines({ what, container, cause, seconds, next }: WaitView): readonly string[] {
  const where = container === undefined ? "" : `${container}: `;
  const due = next === undefined ? "" : `; ${next.what} at ${next.at}, in ${durationText(next.inSeconds)}`;
  const lasting = seconds === undefined ? "" : ` for ${durationText(seconds)}`;
  const line = `  ${where}${what}${lasting}${due}`;
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
