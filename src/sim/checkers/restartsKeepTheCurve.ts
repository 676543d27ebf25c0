/**
 * No container restarts sooner after its exit than the crash-loop backoff allows: at once the first time, then after
 * the initial delay, which doubles. Each process of the kubelet counts from its own first restart, as upstream. A
 * changed spec, annotation or sandbox and an operator's `retry` reset the backoff; a step of the wall clock moves
 * earlier exits. As upstream, the kubelet knows an exit as long as the runtime keeps the instance, which is removed
 * beside newer ones, also those that never started.
 */
import { type BackoffEntry, type BackoffPolicy, nextBackoff } from "../../core/backoff.ts";
import type { Pod } from "../../core/api.ts";
import { monotonicMs } from "../../core/ids.ts";
import { steerCrashLoop } from "../../core/pod/crashLoopSteering.ts";
import { sameValue } from "../../core/sameValue.ts";
import type { SimChecker } from "../simChecker.ts";

/** Tolerance: exit times are whole milliseconds of a clock that may run fast. */
const ROUNDING_MS = 10;
const FASTEST = 0.01;
/** An instance created this soon after a change of its pod may have the old spec: its exit does not count. */
const SETTLING_MS = 60_000;

interface Loop {
  /** The instance that exited last. */
  readonly instance: string;
  /** undefined when the kubelet stopped the instance, or was about to, for an immediate restart, or forgot its exit. */
  readonly exitedAtMs: number | undefined;
  /** Whether a newer instance was created. */
  readonly isFollowed: boolean;
  /**
   * Backoff of this kubelet process. `updatedAt` is the earliest instant at which it may have allowed the last restart.
   */
  readonly entry: BackoffEntry | undefined;
}

interface PodLoops {
  /** Spec and annotations. */
  readonly wish: { readonly spec: Pod["spec"]; readonly annotations: Pod["metadata"]["annotations"] };
  /** Backoff policy of the node, adjusted by the pod's annotations. */
  readonly policy: BackoffPolicy;
  /** `-Infinity` for the first spec. */
  readonly changedAtMs: number;
  /** Keyed by container: `namespace/pod/name`. */
  readonly loops: Map<string, Loop>;
  /** Instances (`namespace/pod/name#attempt`) created from the current spec that the kubelet did not stop. */
  readonly counted: Set<string>;
}

const containerOf = (subject: string): string => subject.split("#")[0] ?? "";

/** Counts a restart of a container; returns the violation if it came before its backoff ended. */
function containerMade(
  { policy, loops, counted, changedAtMs }: PodLoops,
  subject: string,
  atMs: number,
): string | undefined {
  if (atMs - changedAtMs > SETTLING_MS) counted.add(subject);
  const loop = loops.get(containerOf(subject));
  if (loop?.exitedAtMs === undefined) return undefined;
  const { exitedAtMs, entry } = loop;
  const exitedAt = monotonicMs(exitedAtMs);
  const isFree = entry === undefined || exitedAt - entry.updatedAt > policy.resetAfterMs;
  const mayAt = monotonicMs(isFree ? exitedAt : exitedAt + entry.delayMs);
  loops.set(containerOf(subject), { ...loop, isFollowed: true, entry: nextBackoff(entry, exitedAt, policy, mayAt) });
  if (atMs + ROUNDING_MS + (atMs - exitedAtMs) * FASTEST >= mayAt) return undefined;
  return `${subject} was created ${(mayAt - atMs) / 1000} s before its crash-loop backoff ends`;
}

/** Notes the exit of a container. */
function containerExited({ loops, counted }: PodLoops, subject: string, atMs: number): void {
  const exitedAtMs = counted.delete(subject) ? atMs : undefined;
  const entry = loops.get(containerOf(subject))?.entry;
  loops.set(containerOf(subject), { instance: subject, exitedAtMs, isFollowed: false, entry });
}

/** Notes the removal of an instance beside a newer one. */
function containerRemoved({ loops }: PodLoops, subject: string): void {
  const loop = loops.get(containerOf(subject));
  if (loop?.instance === subject && loop.isFollowed)
    loops.set(containerOf(subject), { ...loop, exitedAtMs: undefined });
}

/**
 * Notes a StopContainer call. An unseen exit just before it counts as the kubelet's too, which then restarts at once.
 */
function containerStopped({ loops, counted }: PodLoops, subject: string): void {
  counted.delete(subject);
  const loop = loops.get(containerOf(subject));
  if (loop?.instance === subject) loops.set(containerOf(subject), { ...loop, exitedAtMs: undefined });
}

/** Creates the checker. `nodePolicy` applies to pods without annotations of their own. */
export function restartsKeepTheCurve(nodePolicy: BackoffPolicy): SimChecker {
  const pods = new Map<string, PodLoops>();
  const reported = ({ metadata, spec }: Pod, atMs: number): void => {
    const before = pods.get(metadata.uid);
    const wish = { spec, annotations: metadata.annotations };
    if (sameValue(before?.wish, wish)) return;
    const changedAtMs = before === undefined ? -Infinity : atMs;
    const { policy } = steerCrashLoop(metadata.annotations, nodePolicy);
    pods.set(metadata.uid, { wish, policy, changedAtMs, loops: new Map(), counted: new Set() });
  };
  const forgetLoops = (): void => {
    for (const { loops } of pods.values()) loops.clear();
  };
  const retried = (pod: string): void => {
    for (const { loops } of pods.values()) {
      for (const container of loops.keys()) if (container.startsWith(`${pod}/`)) loops.delete(container);
    }
  };
  return {
    name: "restartsKeepTheCurve",
    sees: ["wanted", "kubelet", "clock", "action", "call", "change"],
    check(observation) {
      switch (observation.kind) {
        case "wanted":
          for (const pod of observation.news) reported(pod, observation.atMs);
          return undefined;
        case "kubelet":
        case "clock":
          forgetLoops();
          return undefined;
        case "action":
          if (observation.text.startsWith("retry ")) retried(observation.text.slice("retry ".length));
          return undefined;
        case "call": {
          const pod = pods.get(observation.podUid);
          if (observation.rpc === "StopContainer" && pod !== undefined) containerStopped(pod, observation.subject);
          return undefined;
        }
        case "change": {
          const { kind, podUid, name } = observation.change;
          const pod = pods.get(podUid);
          if (kind === "sandbox created") pod?.loops.clear();
          if (kind === "container created" && pod !== undefined) return containerMade(pod, name, observation.atMs);
          if (kind === "container exited" && pod !== undefined) containerExited(pod, name, observation.atMs);
          if (kind === "container removed" && pod !== undefined) containerRemoved(pod, name);
          return undefined;
        }
        default:
          return undefined;
      }
    },
  };
}
