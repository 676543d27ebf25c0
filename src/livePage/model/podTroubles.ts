/** The reason why a pod is not ready, as the list of pods and the page of a pod say it. */
import type { LiveContainer, LivePod, LiveWait } from "../../core/live/liveMessages.ts";

export type PodHealth = "ready" | "done" | "starting" | "trouble";

export interface PodTrouble {
  /** A word or two: the kind of wait, or the reason in the pod's status. */
  readonly title: string;
  readonly container?: string;
  readonly cause?: string;
  readonly since?: number;
  readonly next?: { readonly what: string; readonly at: number };
  /** Names of what is ahead in a queue. */
  readonly ahead: number;
}

/** Waits and reasons of a start that goes well, unless they last. */
const NORMAL: ReadonlySet<string> = new Set([
  "RunPodSandbox",
  "CreateContainer",
  "StartContainer",
  "ContainerCreating",
  "PodInitializing",
  "InitContainer",
  "PodName",
]);
/** A start takes longer than this only when something is wrong. */
const NORMAL_MS = 20_000;

/** Returns whether the pod serves, has ended well, is on its way or is in trouble at `now`. */
export function podHealth(pod: LivePod, now: number): PodHealth {
  if (pod.phase === "Succeeded") return "done";
  if (pod.phase === "Failed" || pod.state === "rejected") return "trouble";
  if (pod.state === "gone" || (pod.state === "terminated" && pod.reason === undefined)) return "done";
  const serving = pod.containers.filter(({ kind }) => kind !== "init");
  const isReady = pod.state === "syncing" && serving.length > 0 && serving.every(({ ready }) => ready);
  if (isReady && pod.waits.length === 0) return "ready";
  const troubles = podTroubles(pod);
  if (troubles.length === 0) return isReady ? "ready" : "starting";
  return troubles.every((trouble) => isNormal(trouble, now)) ? "starting" : "trouble";
}

const isNormal = ({ title, since }: PodTrouble, now: number): boolean =>
  NORMAL.has(title) && (since === undefined || now - since < NORMAL_MS);

/** Returns the reasons, the most telling first: what the node waits for, then what the statuses say. */
export function podTroubles(pod: LivePod): readonly PodTrouble[] {
  const waits = pod.waits.map(troubleOfWait);
  const explained = new Set(pod.waits.map(({ container }) => container));
  const containers = pod.containers
    .filter((container) => !explained.has(container.name))
    .flatMap((container) => troubleOfContainer(container));
  const own = pod.reason !== undefined || pod.message !== undefined ? [troubleOfStatus(pod)] : [];
  const isOver = pod.state === "rejected" || pod.phase === "Failed";
  return isOver ? [...own, ...waits] : [...waits, ...containers, ...own];
}

const troubleOfWait = ({ what, container, cause, ahead = [], since, next }: LiveWait): PodTrouble => ({
  title: what,
  ...(container === undefined ? {} : { container }),
  ...(cause === undefined ? {} : { cause }),
  ...(since === undefined ? {} : { since }),
  ...(next === undefined ? {} : { next }),
  ahead: ahead.length,
});

const troubleOfStatus = ({ reason, message, phase, state }: LivePod): PodTrouble => ({
  title: reason ?? phase ?? state,
  ...(message === undefined ? {} : { cause: message }),
  ahead: 0,
});

function troubleOfContainer({ name, kind, state, reason, ready }: LiveContainer): readonly PodTrouble[] {
  if (state === "running") return ready || kind === "init" ? [] : [{ title: "NotReady", container: name, ahead: 0 }];
  const isDone = state === "terminated" && (reason === undefined || reason === "Completed");
  return isDone || reason === undefined ? [] : [{ title: reason, container: name, ahead: 0 }];
}

/** Order of pods in the list. */
const RANKS: Readonly<Record<PodHealth, number>> = { trouble: 0, starting: 1, ready: 2, done: 3 };

export interface RankedPod {
  readonly pod: LivePod;
  readonly health: PodHealth;
}

/** Returns the pods with those in trouble first, each group by name. */
export const byRank = <P extends RankedPod>(pods: readonly P[]): readonly P[] =>
  pods.toSorted((a, b) => RANKS[a.health] - RANKS[b.health] || compareNames(a.pod, b.pod));

/** Compares by namespace, then by name. */
export const compareNames = (a: LivePod, b: LivePod): number =>
  compare(a.namespace, b.namespace) || compare(a.name, b.name);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
