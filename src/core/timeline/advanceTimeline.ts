/**
 * Reducer of a pod's timeline, for pipelines/podTimeline.ts. Returns the same timeline for an input that adds nothing.
 */
import { namesText, WAITING_FOR_RESOURCES } from "../admission/leavingPods.ts";
import type { KubeletEvent } from "../events.ts";
import { unreachable } from "../invariant.ts";
import type { Pod } from "../api.ts";
import { isRestored } from "../pod/restoredMark.ts";
import type { PodIdentity } from "../pod/podRegistry.ts";
import { statusEntries } from "./statusEntries.ts";
import {
  type Instant,
  MAX_ENTRIES,
  MAX_MESSAGE,
  type Outcome,
  type PodTimeline,
  type AwaitedResources,
  type Stage,
  type StageUnderWay,
  type TimelineEntry,
  type TimelineInput,
} from "./timelineTypes.ts";

/** Returns an empty timeline. */
export const emptyTimeline = (identity: PodIdentity, now: Instant): PodTimeline => ({
  identity,
  pod: undefined,
  state: "waiting",
  since: now,
  behind: undefined,
  awaited: undefined,
  status: undefined,
  underWay: new Map(),
  failures: new Map(),
  failedRound: undefined,
  traceId: undefined,
  entries: [],
  dropped: 0,
});

/** Applies one input. Never throws. */
export function advanceTimeline(timeline: PodTimeline, input: TimelineInput, now: Instant): PodTimeline {
  switch (input.kind) {
    case "stageBegan":
      return begin(timeline, input.id, input.stage, now);
    case "stageEnded":
      return end(timeline, input.id, now, input.cutOff === true ? "cut off" : undefined, input.failure);
    case "failures":
      return { ...timeline, failures: datedFailures(timeline, input.failures, now) };
    case "round": {
      const { failures, againAt } = input;
      if (failures.length === 0)
        return timeline.failedRound === undefined ? timeline : { ...timeline, failedRound: undefined };
      return { ...timeline, failedRound: { failures, againAt, since: timeline.failedRound?.since ?? now } };
    }
    case "traced":
      return { ...timeline, traceId: input.traceId };
    case "remark":
      return append(timeline, { at: now.wall, what: input.what, message: input.message });
    case "event":
      return takeEvent(timeline, input.event, now);
    case "status":
      return append(
        { ...timeline, status: input.status },
        ...statusEntries(timeline.status, input.status).map((entry) => ({ at: now.wall, ...entry })),
      );
    case "record":
      return takeRecord(timeline, input, now);
    case "gone":
      return leaveState(timeline, "gone", now, "Removed");
    default:
      return unreachable(input);
  }
}

function begin(timeline: PodTimeline, id: number | string, stage: Stage, since: Instant): PodTimeline {
  return { ...timeline, underWay: new Map(timeline.underWay).set(id, { stage, since }) };
}

function end(
  timeline: PodTimeline,
  id: number | string,
  now: Instant,
  outcome: Outcome | undefined,
  failure?: string,
): PodTimeline {
  const ended = timeline.underWay.get(id);
  if (ended === undefined) return timeline;
  const underWay = new Map(timeline.underWay);
  underWay.delete(id);
  return append({ ...timeline, underWay }, stageEntry(ended, now, failure === undefined ? outcome : "failed", failure));
}

const stageEntry = (
  { stage: { name, container }, since }: StageUnderWay,
  now: Instant,
  outcome: Outcome | undefined,
  failure: string | undefined,
): TimelineEntry => ({
  at: since.wall,
  what: name,
  ...(container === undefined ? {} : { container }),
  tookMs: now.mono - since.mono,
  ...(outcome === undefined ? {} : { outcome }),
  ...(failure === undefined ? {} : { message: failure }),
});

function datedFailures(
  { failures: before }: PodTimeline,
  failures: (TimelineInput & { readonly kind: "failures" })["failures"],
  now: Instant,
): PodTimeline["failures"] {
  return new Map(
    [...failures].map(([name, failure]) => {
      const known = before.get(name);
      return [name, { ...failure, since: known?.reason === failure.reason ? known.since : now }];
    }),
  );
}

/** Events that repeat what stages and statuses show. */
const SAID_ELSEWHERE: ReadonlySet<string> = new Set([
  "Created",
  "Started",
  "Pulled",
  "Failed",
  "BackOff",
  WAITING_FOR_RESOURCES,
]);

/** Returns the name in a field path such as `spec.containers{web}`. */
function containerIn(fieldPath: string): string | undefined {
  const opening = fieldPath.indexOf("{");
  return opening >= 0 && fieldPath.endsWith("}") ? fieldPath.slice(opening + 1, -1) : undefined;
}

/** An image pull is a stage that starts and ends with events. */
function takeEvent(timeline: PodTimeline, { reason, type, message, object }: KubeletEvent, now: Instant): PodTimeline {
  const container = containerIn(object.fieldPath);
  const pullId = `pull ${container ?? ""}`;
  if (reason === "Pulling") {
    return begin(timeline, pullId, { name: IMAGE_PULL, ...(container === undefined ? {} : { container }) }, now);
  }
  if (timeline.underWay.has(pullId) && (reason === "Pulled" || reason === "Failed")) {
    return end(timeline, pullId, now, undefined, reason === "Failed" ? message : undefined);
  }
  if (SAID_ELSEWHERE.has(reason)) return timeline;
  return append(timeline, {
    at: now.wall,
    what: reason,
    ...(container === undefined ? {} : { container }),
    ...(type === "Warning" ? { outcome: "warning" } : {}),
    message,
  });
}

/** Name of the stage of an image pull, including its wait in the queue. */
export const IMAGE_PULL = "ImagePull";

const STATE_TITLES = {
  waiting: "Waiting",
  rejected: "Rejected",
  syncing: "Accepted",
  terminating: "Terminating",
  terminated: "Terminated",
} as const;

function takeRecord(
  timeline: PodTimeline,
  { pod, state, graceSeconds, behind, awaited }: TimelineInput & { readonly kind: "record" },
  now: Instant,
): PodTimeline {
  const news = originNews(timeline.pod, pod).map((entry) => ({ at: now.wall, ...entry }));
  const known = append({ ...timeline, pod: pod ?? timeline.pod, behind, awaited }, ...news);
  const isUnmoved = state === timeline.state && timeline.entries.length > 0;
  if (isUnmoved) {
    if (state === "syncing" && pod !== timeline.pod) return append(known, { at: now.wall, what: "Updated" });
    return known;
  }
  const message = {
    waiting: behind === undefined ? awaitedText(awaited) : `for the pod of the same name with UID ${behind}`,
    terminating: graceSeconds === undefined ? undefined : `within ${graceSeconds} s`,
  }[state as string];
  return leaveState(known, state, now, STATE_TITLES[state], message);
}

/** Says that the pod was restored from disk, or has been confirmed by the API server since. */
function originNews(before: Pod | undefined, pod: Pod | undefined): readonly Pick<TimelineEntry, "what" | "message">[] {
  if (pod === undefined) return [];
  const wasRestored = before !== undefined && isRestored(before);
  if (isRestored(pod) === wasRestored) return [];
  return wasRestored
    ? [{ what: "Confirmed", message: "by the API server, which has answered" }]
    : [{ what: "Restored", message: "from disk: the API server has not answered since the start" }];
}

function awaitedText(awaited: AwaitedResources | undefined): string | undefined {
  if (awaited?.plugin !== undefined) return awaited.plugin;
  return awaited === undefined || awaited.pods.length === 0 ? undefined : `for resources of ${namesText(awaited.pods)}`;
}

/** A phase change cancels image pulls; every other stage reports its own end. */
function leaveState(
  timeline: PodTimeline,
  state: PodTimeline["state"],
  now: Instant,
  what: string,
  message?: string,
): PodTimeline {
  const pulls = [...timeline.underWay.keys()].filter((id) => typeof id === "string");
  const left = pulls.reduce<PodTimeline>((pulled, id) => end(pulled, id, now, "cut off"), timeline);
  const entry = { at: now.wall, what, ...(message === undefined ? {} : { message }) };
  return append({ ...left, state, since: now, failures: new Map(), failedRound: undefined }, entry);
}

/** Adds entries, merges consecutive equal ones, and drops the oldest beyond the bound. */
function append(timeline: PodTimeline, ...added: readonly TimelineEntry[]): PodTimeline {
  if (added.length === 0) return timeline;
  const entries = [...timeline.entries];
  for (const entry of added.map(bounded)) {
    const last = entries.at(-1);
    if (last !== undefined && isSame(last, entry)) {
      entries[entries.length - 1] = { ...last, count: (last.count ?? 1) + 1, lastAt: entry.at };
    } else entries.push(entry);
  }
  const excess = Math.max(0, entries.length - MAX_ENTRIES);
  return { ...timeline, entries: entries.slice(excess), dropped: timeline.dropped + excess };
}

const isSame = (a: TimelineEntry, b: TimelineEntry): boolean =>
  a.tookMs === undefined &&
  b.tookMs === undefined &&
  a.what === b.what &&
  a.container === b.container &&
  a.message === b.message;

const bounded = (entry: TimelineEntry): TimelineEntry =>
  entry.message === undefined || entry.message.length <= MAX_MESSAGE
    ? entry
    : { ...entry, message: `${entry.message.slice(0, MAX_MESSAGE - 3)}...` };
