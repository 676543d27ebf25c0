/** Expectations about a course of events: timelines and diagrams of containers, the order and the times of events. */
import type { Expectation, Finding } from "./expectations.ts";
import type { Happening, History } from "./history.ts";
import type { ScenarioNames } from "./scenarioNames.ts";
import { type Duration, milliseconds, ScenarioError, shortDuration } from "./scenarioTime.ts";
import { diagramText, spansOf, timelineText } from "./timeline.ts";

/** Matches any rest of a timeline or diagram. */
const AND_SO_ON = "...";

/**
 * Expects a timeline of a container (see STATE_LETTERS), such as `w1s R5s b10s`. States shorter than half of
 * `precision` (default 1s) are left out; `...` at the end matches any rest.
 */
export function timeline(
  container: string,
  expected: string,
  { precision = "1s" }: { readonly precision?: Duration } = {},
): Expectation {
  const precisionMs = milliseconds(precision, "timeline");
  const spaced = expected.trim().replace(/\s+/g, " ");
  return {
    text: `timeline of ${container}: ${spaced}`,
    untilMs: 0,
    judge(history, names) {
      const found = timelineText(spansOf(history, names.container(container)), precisionMs);
      return matches(found, spaced) ? undefined : { atMs: history.endMs, found };
    },
  };
}

const matches = (found: string, expected: string): boolean =>
  expected.endsWith(AND_SO_ON) ? found.startsWith(expected.slice(0, -AND_SO_ON.length)) : found === expected;

/** Expects diagrams of containers, one letter per `slice`; `...` at the end matches any rest, blanks are ignored. */
export function diagram(slice: Duration, expected: Readonly<Record<string, string>>): Expectation {
  const sliceMs = Math.max(1, milliseconds(slice, "diagram"));
  const lines = (of: (container: string, drawn: string) => string): readonly string[] => {
    const width = Math.max(...Object.keys(expected).map((name) => name.length));
    return Object.entries(expected).map(([name, drawn]) => `${name.padEnd(width)}  ${of(name, drawn)}`);
  };
  const plain = (drawn: string): string => drawn.replace(/\s+/g, "");
  return {
    text: `diagram in steps of ${slice}:\n${lines((_, drawn) => plain(drawn)).join("\n")}`,
    untilMs: 0,
    judge(history, names) {
      const drawnOf = (name: string): string => diagramText(spansOf(history, names.container(name)), sliceMs);
      const isRight = Object.entries(expected).every(([name, drawn]) => matches(drawnOf(name), plain(drawn)));
      return isRight ? undefined : { atMs: history.endMs, found: `\n${lines(drawnOf).join("\n")}` };
    },
  };
}

const withoutAttempt = (text: string): string => text.replace(/#\d+/, "");

/** Expects happenings in this order, others between them allowed: `web/app started`, `web sandbox removed`. */
export function inOrder(...expected: readonly string[]): Expectation {
  return {
    text: `in order: ${expected.join(", ")}`,
    untilMs: 0,
    judge({ happenings, endMs }): Finding | undefined {
      let next = 0;
      let lastMs = 0;
      for (const { text, atMs } of happenings) {
        const wanted = expected[next];
        if (wanted === undefined) return undefined;
        if (!text.startsWith(wanted) && !withoutAttempt(text).startsWith(wanted)) continue;
        next += 1;
        lastMs = atMs;
      }
      if (next === expected.length) return undefined;
      const before = next === 0 ? "" : ` after ${expected[next - 1]} at ${shortDuration(lastMs)}`;
      return { atMs: endMs, found: `no ${expected[next]}${before}` };
    },
  };
}

/** Selects the happenings of a story. */
export interface StoryOf {
  /** Pattern of the happenings in the story. */
  readonly only: RegExp;
  /** Start of the story; times count from it. */
  readonly since?: Duration;
}

/**
 * Expects exactly these lines for a pod, `5.5s app#0 exited code 0`: all that match `only`, times in tenths of a
 * second.
 */
export function story(pod: string, { only, since = "0s" }: StoryOf, expected: readonly string[]): Expectation {
  if (only.global || only.sticky)
    throw new ScenarioError("story: a pattern that is global or sticky remembers its last match");
  const sinceMs = milliseconds(since, "story");
  return {
    text: `story of ${pod}:\n${expected.join("\n")}`,
    untilMs: sinceMs,
    judge(history, names) {
      const found = storyOf(history, names, pod, only, sinceMs);
      return found.join("\n") === expected.join("\n")
        ? undefined
        : { atMs: history.endMs, found: `\n${found.join("\n")}` };
    },
  };
}

/** Returns the lines of a story. */
export function storyOf(
  { happenings }: History,
  names: ScenarioNames,
  pod: string,
  only: RegExp,
  sinceMs = 0,
): readonly string[] {
  const name = names.pod(pod);
  return happenings
    .filter((happening) => happening.pod === name && happening.atMs >= sinceMs && only.test(happening.text))
    .map((happening) => storyLine(happening, name, sinceMs));
}

function storyLine({ atMs, text }: Happening, pod: string, sinceMs: number): string {
  const tenths = Math.floor((atMs - sinceMs) / 100);
  return `${shortDuration(tenths * 100)} ${text.slice(pod.length).replace(/^[/ ]/, "")}`;
}
