/**
 * A pod's timeline as served: instants as RFC 3339 in UTC with milliseconds, durations in seconds. The format is
 * documented in docs/operations.md; fields may be added, but not changed.
 */
import { epochMs } from "../ids.ts";
import { formatInstantMs } from "../time/civilTime.ts";
import { problemText } from "../pod/manifest/problemText.ts";
import type { PodIdentity } from "../pod/podRegistry.ts";
import type { ManifestProblem } from "../pod/sourceSnapshot.ts";
import { type NodeBusiness, podWaits } from "./podWaits.ts";
import type { Outcome, PodTimeline, PodWait, TimelineEntry } from "./timelineTypes.ts";

export interface TimelineView {
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** State of the pod on this node: waiting, rejected, syncing, terminating, terminated or gone. */
  readonly state: PodTimeline["state"];
  readonly stateSince: string;
  /** `status.phase`; absent before the first status. */
  readonly phase?: string;
  /** `status.reason` and `status.message`, such as why the node rejected or evicted the pod. */
  readonly reason?: string;
  readonly message?: string;
  /** The time of this view. */
  readonly at: string;
  /** Problems of the pod's manifest; absent when there are none. */
  readonly problems?: readonly ProblemView[];
  readonly waits: readonly WaitView[];
  /** Trace of the latest work on the pod, if it is traced. */
  readonly traceId?: string;
  /** Oldest first. */
  readonly entries: readonly EntryView[];
  /** Number of older entries that were dropped. */
  readonly dropped: number;
}

export interface ProblemView {
  readonly severity: ManifestProblem["severity"];
  /** `FILE:LINE: FIELD: REASON`, without unknown parts. */
  readonly message: string;
  /** Set if the pod runs the last valid version of its manifest because of this problem. */
  readonly keepsLastGood?: true;
}

export interface WaitView {
  readonly what: string;
  readonly container?: string;
  readonly cause?: string;
  readonly ahead?: readonly string[];
  /** Duration so far, if known. */
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

/** Returns the view at `node.now`, with the problems of `manifests` that concern the pod. */
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
    ...(status?.reason === undefined ? {} : { reason: status.reason }),
    ...(status?.message === undefined ? {} : { message: status.message }),
    at: formatInstantMs(node.now.wall),
    ...problemsOf(identity, manifests),
    waits: podWaits(timeline, node).map((wait) => waitView(wait, node)),
    ...(timeline.traceId === undefined ? {} : { traceId: timeline.traceId }),
    // A stage is recorded when it ends but shown at its start.
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
