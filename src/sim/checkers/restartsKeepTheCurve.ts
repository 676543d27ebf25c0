/**
 * No container is made anew sooner after its end than the crash-loop curve allows: at once the first time, then the
 * first delay, doubling. A kubelet counts from its own first restart: what an earlier one knew is lost, as upstream. A
 * changed spec, annotation or sandbox starts afresh, as does an operator's `retry`, and a step of the wall clock moves the
 * instants of earlier exits.
 */
import { type BackoffEntry, type BackoffPolicy, nextBackoff } from "../../core/backoff.ts";
import type { Pod } from "../../core/api.ts";
import { monotonicMs } from "../../core/ids.ts";
import { steerCrashLoop } from "../../core/pod/crashLoopSteering.ts";
import { sameValue } from "../../core/sameValue.ts";
import type { SimChecker } from "../simChecker.ts";

/** Exits are stamped in whole milliseconds of a clock that may run fast. */
const ROUNDING_MS = 10;
const FASTEST = 0.01;
/** An instance made soon after a change of its pod may be one of the old spec: its end is not held against the new one. */
const SETTLING_MS = 60_000;

interface Loop {
  /** The one that ended last. */
  readonly instance: string;
  /** undefined when the kubelet ended it, or was about to, to make it anew at once. */
  readonly exitedAtMs: number | undefined;
  /** Restarts under this kubelet. `updatedAt` is the earliest instant at which it may have let the last one through. */
  readonly entry: BackoffEntry | undefined;
}

interface PodLoops {
  /** Spec and annotations. */
  readonly wish: { readonly spec: Pod["spec"]; readonly annotations: Pod["metadata"]["annotations"] };
  /** The node's, as the pod's annotations steer it. */
  readonly policy: BackoffPolicy;
  /** `-Infinity` for the first spec. */
  readonly changedAtMs: number;
  /** By container, as `namespace/pod/name`. */
  readonly loops: Map<string, Loop>;
  /** Instances, as `namespace/pod/name#attempt`, that were made since it is as it is and not asked to stop. */
  readonly counted: Set<string>;
}

const containerOf = (subject: string): string => subject.split("#")[0] ?? "";

/** Counts a container made anew; returns the violation if it came before its backoff ended. */
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
  loops.set(containerOf(subject), { ...loop, entry: nextBackoff(entry, exitedAt, policy, mayAt) });
  if (atMs + ROUNDING_MS + (atMs - exitedAtMs) * FASTEST >= mayAt) return undefined;
  return `${subject} was made ${(mayAt - atMs) / 1000} s before its crash loop allows`;
}

/** Notes the exit of a container. */
function containerExited({ loops, counted }: PodLoops, subject: string, atMs: number): void {
  const exitedAtMs = counted.delete(subject) ? atMs : undefined;
  loops.set(containerOf(subject), { instance: subject, exitedAtMs, entry: loops.get(containerOf(subject))?.entry });
}

/** Notes a StopContainer call. An unseen exit just before it counts as the kubelet's too, which then restarts at once. */
function containerStopped({ loops, counted }: PodLoops, subject: string): void {
  counted.delete(subject);
  const loop = loops.get(containerOf(subject));
  if (loop?.instance === subject) loops.set(containerOf(subject), { ...loop, exitedAtMs: undefined });
}

/** `nodePolicy` is the curve of pods that do not ask for another. */
export function restartsKeepTheCurve(nodePolicy: BackoffPolicy): SimChecker {
  const pods = new Map<string, PodLoops>();
  const told = ({ metadata, spec }: Pod, atMs: number): void => {
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
          for (const pod of observation.news) told(pod, observation.atMs);
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
          return undefined;
        }
        default:
          return undefined;
      }
    },
  };
}
