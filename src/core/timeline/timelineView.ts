/**
 * A pod's timeline as it is served: instants as RFC 3339 in UTC with milliseconds, durations in seconds. The shape is
 * documented in docs/operations.md; fields are added, not changed.
 */
import { epochMs } from "../ids.ts";
import { formatInstantMs } from "../telemetry/civilTime.ts";
import { problemText } from "../pod/manifest/problemText.ts";
import type { PodIdentity } from "../pod/podRegistry.ts";
import type { ManifestProblem } from "../pod/sourceSnapshot.ts";
import { type NodeBusiness, podWaits } from "./podWaits.ts";
import type { Outcome, PodTimeline, PodWait, TimelineEntry } from "./timelineTypes.ts";

export interface TimelineView {
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** Of the pod on this node: waiting, rejected, syncing, terminating, terminated or gone. */
  readonly state: PodTimeline["state"];
  readonly stateSince: string;
  /** `status.phase`; absent before the first status. */
  readonly phase?: string;
  /** When this was said. */
  readonly at: string;
  /** What is wrong with the pod's manifest; absent when nothing is. */
  readonly problems?: readonly ProblemView[];
  readonly waits: readonly WaitView[];
  /** Oldest first. */
  readonly entries: readonly EntryView[];
  /** Older entries that are no longer kept. */
  readonly dropped: number;
}

export interface ProblemView {
  readonly severity: ManifestProblem["severity"];
  /** `FILE:LINE: FIELD: REASON`, as far as these are known. */
  readonly message: string;
  /** The pod runs the last good version of its manifest because of it. */
  readonly keepsLastGood?: true;
}

export interface WaitView {
  readonly what: string;
  readonly container?: string;
  readonly cause?: string;
  readonly ahead?: readonly string[];
  /** For how long already, where that is known. */
  readonly seconds?: number;
  readonly next?: { readonly what: string; readonly at: string; readonly inSeconds: number };
}

export interface EntryView {
  readonly at: string;
  readonly what: string;
  readonly container?: string;
  readonly seconds?: number;
  readonly outcome?: Outcome;
  readonly message?: string;
  readonly count?: number;
  readonly lastAt?: string;
}

/** The timeline as of `node.now`, with the problems of `manifests` that concern the pod. */
export function timelineView(
  timeline: PodTimeline,
  node: NodeBusiness,
  manifests: readonly ManifestProblem[] = [],
): TimelineView {
  const { identity, state, since, status, entries, dropped } = timeline;
  return {
    pod: { namespace: identity.namespace, name: identity.name, uid: identity.uid },
    state,
    stateSince: formatInstantMs(since.wall),
    ...(status?.phase === undefined ? {} : { phase: status.phase }),
    at: formatInstantMs(node.now.wall),
    ...problemsOf(identity, manifests),
    waits: podWaits(timeline, node).map((wait) => waitView(wait, node)),
    // A stage is noted when it ends and shown where it began.
    entries: entries.toSorted((a, b) => a.at - b.at).map(entryView),
    dropped,
  };
}

function problemsOf(
  { namespace, name }: PodIdentity,
  manifests: readonly ManifestProblem[],
): Pick<TimelineView, "problems"> {
  const keeps = ({ kept = [] }: ManifestProblem): boolean => kept.includes(`${namespace}/${name}`);
  const own = manifests.filter(
    (problem) => keeps(problem) || (problem.pod?.namespace === namespace && problem.pod.name === name),
  );
  if (own.length === 0) return {};
  const problems = own.map((problem): ProblemView => {
    const { kept: _, ...rest } = problem;
    const message = problemText(rest);
    return { severity: problem.severity, message, ...(keeps(problem) ? { keepsLastGood: true } : {}) };
  });
  return { problems };
}

function waitView({ forMs, next, ...wait }: PodWait, { now }: NodeBusiness): WaitView {
  const inMs = next === undefined ? 0 : next.at - now.mono;
  return {
    ...wait,
    ...(forMs === undefined ? {} : { seconds: inSeconds(forMs) }),
    ...(next === undefined
      ? {}
      : { next: { what: next.what, at: formatInstantMs(epochMs(now.wall + inMs)), inSeconds: inSeconds(inMs) } }),
  };
}

function entryView({ at, what, container, tookMs, outcome, message, count, lastAt }: TimelineEntry): EntryView {
  return {
    at: formatInstantMs(at),
    what,
    ...(container === undefined ? {} : { container }),
    ...(tookMs === undefined ? {} : { seconds: inSeconds(tookMs) }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(message === undefined ? {} : { message }),
    ...(count === undefined ? {} : { count }),
    ...(lastAt === undefined ? {} : { lastAt: formatInstantMs(lastAt) }),
  };
}

const inSeconds = (ms: number): number => Math.max(0, Math.round(ms) / 1000);
