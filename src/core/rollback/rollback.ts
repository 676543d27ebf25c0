/**
 * Rollback of static pods: a manifest with `rxlet.dev/rollback-after` has that long to become Ready after a change, or
 * else the last good version runs again until the manifest changes once more. Pure; pipelines/rollback.ts has the state
 * and the disk. Bound: one record per manifest with the annotation. Not in upstream.
 *
 *     good --(changed)--> trial --(Ready)--> good
 *                           |  (time is over)
 *                           +--> failed: the good version runs --(changed)--> trial
 */
import type { Pod } from "../api.ts";
import { formatDuration, parseDuration } from "../config/duration.ts";
import { type EpochMs, fullNameOf, type MonotonicMs, type PodFullName } from "../ids.ts";

/** The annotation of a manifest that asks for a rollback. */
export const ROLLBACK_AFTER = "rxlet.dev/rollback-after";
/** Bounds of its value in milliseconds: below a second no pod becomes Ready. */
const [MIN_AFTER_MS, MAX_AFTER_MS] = [1_000, 24 * 3_600_000];
/** After a restart of the kubelet a pod has at least this long, in milliseconds, to be seen Ready. */
const GRACE_MS = 30_000;
/** Time, in milliseconds, for which a missing manifest may be about to be replaced. */
const MISSING_MS = 10_000;
/** Wait, in milliseconds, while the node itself keeps pods from becoming Ready. */
const POSTPONED_MS = 10_000;

/** A version of a manifest that is being tried. */
export interface Trial {
  readonly uid: string;
  /** Wall time of the change. */
  readonly startedAt: EpochMs;
  /** Boot of the machine in which it started: after another boot the trial has its whole time again. */
  readonly boot: string;
}

/** A version that failed. */
export interface FailedVersion {
  readonly uid: string;
  readonly at: EpochMs;
  readonly why: string;
}

/** The versions of one manifest. */
export interface RollbackRecord {
  /** The last version that became Ready. */
  readonly good: Pod | undefined;
  readonly trial: Trial | undefined;
  readonly failed: FailedVersion | undefined;
}

/** A record with what only the running kubelet knows. */
export interface RollbackState extends RollbackRecord {
  /** End of the trial. */
  readonly dueAt: MonotonicMs | undefined;
  /** The version in the manifest; undefined while the manifest is missing. */
  readonly current: Pod | undefined;
  /** When the record of a missing manifest is dropped. */
  readonly forgetAt: MonotonicMs | undefined;
  /** The record as it is on the disk; undefined when there is none. */
  readonly written: RollbackRecord | undefined;
}

export type RollbackStates = ReadonlyMap<PodFullName, RollbackState>;

/** The node, as decisions see it. */
export interface RollbackLook {
  readonly now: { readonly wall: EpochMs; readonly mono: MonotonicMs };
  readonly boot: string;
  /** Whether the version has become Ready, or has succeeded. */
  isGood(uid: string): boolean;
  /** Why it has not. */
  why(uid: string): string;
  /** Whether the runtime works and the machine does not shut down: otherwise no version fails. */
  readonly isWell: boolean;
}

/** The time that a manifest allows; undefined without the annotation, `fault` for a value that cannot be used. */
export function rollbackAfter({
  metadata,
}: Pick<Pod, "metadata">): { readonly ms: number } | { readonly fault: string } | undefined {
  const text = metadata.annotations?.[ROLLBACK_AFTER];
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= MIN_AFTER_MS && ms <= MAX_AFTER_MS) return { ms };
  return {
    fault: `Invalid value: ${JSON.stringify(text.slice(0, 100))}: must be a duration from 1s to 24h, such as 2m`,
  };
}

const afterMs = (pod: Pod): number | undefined => {
  const after = rollbackAfter(pod);
  return after !== undefined && "ms" in after ? after.ms : undefined;
};

/** A decision to run the last good version. */
export interface RolledBack {
  readonly good: Pod;
  readonly failed: Pod;
  readonly message: string;
}

/** The outcome of one look at one source. */
export interface RollbackStep {
  readonly states: RollbackStates;
  /** The pods to run, in the order of the manifests. */
  readonly pods: readonly Pod[];
  /** Records to write before the pods run; undefined removes one. */
  readonly writes: ReadonlyMap<PodFullName, RollbackRecord | undefined>;
  readonly rolledBack: readonly RolledBack[];
  /** Time of the next look without a change. */
  readonly wakeAt: MonotonicMs | undefined;
}

const NOTHING: RollbackState = {
  ...{ good: undefined, trial: undefined, failed: undefined },
  ...{ dueAt: undefined, current: undefined, forgetAt: undefined, written: undefined },
};

/** States of the records on disk, at the start of the kubelet. */
export const restoredStates = (records: ReadonlyMap<PodFullName, RollbackRecord>): RollbackStates =>
  new Map([...records].map(([name, record]) => [name, { ...NOTHING, ...record, written: record }]));

/**
 * Decides for all pods of the manifests. `keepsMissing`: some manifest cannot be read, so a record without a pod stays.
 */
export function lookForRollbacks(
  before: RollbackStates,
  manifests: readonly Pod[],
  keepsMissing: boolean,
  look: RollbackLook,
): RollbackStep {
  const states = new Map<PodFullName, RollbackState>();
  const writes = new Map<PodFullName, RollbackRecord | undefined>();
  const rolledBack: RolledBack[] = [];
  const pods = manifests.map((pod) => {
    const name = fullNameOf(pod.metadata);
    const { state, event } = stepOf(before.get(name) ?? NOTHING, pod, look);
    if (event !== undefined) rolledBack.push(event);
    states.set(name, withWrite(name, state, writes));
    return shownPod(state, pod);
  });
  for (const [name, state] of before) {
    if (states.has(name)) continue;
    const kept = missingState(state, keepsMissing, look);
    if (kept !== undefined) states.set(name, kept);
    else if (state.written !== undefined) writes.set(name, undefined);
  }
  const due = [...states.values()].flatMap(({ dueAt, forgetAt }) => [dueAt, forgetAt].filter((at) => at !== undefined));
  const wakeAt = due.length === 0 ? undefined : (Math.min(...due) as MonotonicMs);
  return { states, pods, writes, rolledBack, wakeAt };
}

const shownPod = ({ failed, good }: RollbackState, pod: Pod): Pod =>
  failed?.uid === pod.metadata.uid && good !== undefined ? good : pod;

/** A manifest that is replaced by a removal and a creation keeps its record; undefined drops the record. */
function missingState(before: RollbackState, isKept: boolean, look: RollbackLook): RollbackState | undefined {
  const forgetAt = before.forgetAt ?? ((look.now.mono + MISSING_MS) as MonotonicMs);
  if (!isKept && look.now.mono >= forgetAt) return undefined;
  const { current, failed, good } = before;
  const isCurrentGood =
    current !== undefined && current.metadata.uid !== failed?.uid && look.isGood(current.metadata.uid);
  return {
    ...{ ...before, trial: undefined, dueAt: undefined, current: undefined },
    good: isCurrentGood ? current : good,
    forgetAt: isKept ? undefined : forgetAt,
  };
}

/** Only a record that a later kubelet needs is on disk. */
function withWrite(
  name: PodFullName,
  state: RollbackState,
  writes: Map<PodFullName, RollbackRecord | undefined>,
): RollbackState {
  const { good, trial, failed, written } = state;
  const isNeeded = good !== undefined && (trial !== undefined || failed !== undefined || afterMs(good) !== undefined);
  const wanted = isNeeded ? { good, trial, failed } : undefined;
  const isSame =
    wanted === undefined || written === undefined
      ? wanted === written
      : wanted.good.metadata.uid === written.good?.metadata.uid &&
        wanted.trial?.uid === written.trial?.uid &&
        wanted.trial?.boot === written.trial?.boot &&
        wanted.failed?.uid === written.failed?.uid;
  if (isSame) return state;
  writes.set(name, wanted);
  return { ...state, written: wanted };
}

interface Step {
  readonly state: RollbackState;
  readonly event?: RolledBack;
}

function stepOf(before: RollbackState, pod: Pod, look: RollbackLook): Step {
  const { uid } = pod.metadata;
  // A good version counts even if the manifest that asks for rollbacks is the next one.
  const previous = before.current;
  const isPreviousGood = previous !== undefined && previous.metadata.uid !== uid && look.isGood(previous.metadata.uid);
  const good = isPreviousGood && before.failed?.uid !== previous.metadata.uid ? previous : before.good;
  const state: RollbackState = { ...before, good, current: pod, forgetAt: undefined };
  if (state.failed?.uid === uid && good !== undefined)
    return { state: { ...state, trial: undefined, dueAt: undefined } };
  const ended = { ...state, trial: undefined, failed: undefined, dueAt: undefined };
  if (good?.metadata.uid === uid) return { state: ended };
  if (look.isGood(uid)) return { state: { ...ended, good: pod } };
  const ms = afterMs(pod);
  if (ms === undefined || good === undefined) return { state: ended };
  return trialStep({ ...state, failed: undefined, good }, pod, ms, look);
}

function trialStep(before: RollbackState & { readonly good: Pod }, pod: Pod, ms: number, look: RollbackLook): Step {
  const { now, boot, isWell } = look;
  const { uid } = pod.metadata;
  const trial =
    before.trial?.uid === uid && before.trial.boot === boot ? before.trial : { uid, startedAt: now.wall, boot };
  const isKnown = trial === before.trial;
  const dueAt = isKnown && before.dueAt !== undefined ? before.dueAt : dueOf(trial, ms, now);
  if (now.mono < dueAt) return { state: { ...before, trial, dueAt } };
  if (!isWell) return { state: { ...before, trial, dueAt: (now.mono + POSTPONED_MS) as MonotonicMs } };
  const why = look.why(uid);
  const message =
    `The changed manifest did not become Ready within ${formatDuration(ms)} (${why}): ` +
    "its last good version runs again, until the manifest changes";
  const state = { ...before, trial: undefined, dueAt: undefined, failed: { uid, at: now.wall, why } };
  return { state, event: { good: before.good, failed: pod, message } };
}

/** The end of a trial: a clock that was set back does not make it longer, and a restart leaves time to look. */
function dueOf({ startedAt }: Trial, ms: number, { wall, mono }: RollbackLook["now"]): MonotonicMs {
  const spent = Math.max(0, wall - startedAt);
  return (mono + Math.max(ms - spent, Math.min(ms, GRACE_MS))) as MonotonicMs;
}

/** A wait that `rxlet explain` shows. */
export interface RollbackView {
  /** Version whose pod waits. */
  readonly uid: string;
  readonly cause: string;
  /** When the last good version runs again; undefined when it does. */
  readonly dueAt: MonotonicMs | undefined;
}

/** Returns the waits of all manifests. */
export const rollbackViews = (states: RollbackStates): readonly RollbackView[] =>
  [...states.values()].flatMap(({ current, good, trial, failed, dueAt }): readonly RollbackView[] => {
    if (current === undefined || good === undefined) return [];
    if (trial !== undefined && dueAt !== undefined) {
      const cause = "the manifest has changed; unless its pod becomes Ready, the last good version runs again";
      return [{ uid: current.metadata.uid, cause, dueAt }];
    }
    if (failed?.uid !== current.metadata.uid) return [];
    const cause = `the manifest has changed and failed (${failed.why}); its last good version runs until it changes again`;
    return [{ uid: good.metadata.uid, cause, dueAt: undefined }];
  });
