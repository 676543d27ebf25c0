/**
 * When a pod terminates, the kubelet stops a sidecar only after the regular containers have ended or the pod's grace
 * period has passed. The period counts from the first Killing event of this kubelet, also one for a new sandbox; a
 * later deletion does not restart it. A start under way at that time may still finish, but no sidecar waits for that
 * container. A sidecar that was already being stopped for another reason keeps its own timing.
 */
import type { PodStatus } from "../../core/api.ts";
import { IMMEDIATE_EVICTION_GRACE_SECONDS } from "../../core/eviction/evicted.ts";
import { isSidecar } from "../../core/pod/containers.ts";
import { stoppingMessage } from "../../core/pod/podEvents.ts";
import { SHUTDOWN_STATUS } from "../../core/shutdown/shutdownStatus.ts";
import type { SimChecker } from "../simChecker.ts";
import { DEFAULT_SECONDS, goingPods, GOING_SIGHTS } from "./goingPods.ts";
import { containerNameOf, liveContainers, LIVE_SIGHTS } from "./liveContainers.ts";
import { isPodsLast } from "../simObservation.ts";

const isOver = (status: PodStatus | undefined): boolean => status?.phase === "Failed" || status?.phase === "Succeeded";

/** Tolerance: timers are due at fractions of a millisecond. */
const ROUNDING_MS = 10;

export function sidecarsOutliveMains(live = liveContainers()): SimChecker {
  const going = goingPods();
  /** Start of each pod's termination in milliseconds, by UID. */
  const beganAt = new Map<string, number>();
  /** The first Killing event since the last container start of the pod, by UID. */
  const killedAt = new Map<string, number>();
  /** Containers being stopped for a reason other than pod termination, as `uid/name`. */
  const ownStops = new Set<string>();
  /** Pods that the kubelet has dropped: a container found later gets one second, whatever its pod was. */
  const forgotten = new Set<string>();
  /** Grace period in seconds of pods that the kubelet ended on its own decision, by UID. */
  const ownGrace = new Map<string, number>();
  /** Pods that a shutdown of the machine ends, which may shorten the grace period of an earlier end. */
  const shutDown = new Set<string>();
  const keepFirst = (podUid: string, atMs: number): void => {
    if (!beganAt.has(podUid)) beganAt.set(podUid, atMs);
  };
  const begin = (podUid: string, atMs: number): void => {
    if (going.shortestSeconds(podUid) !== undefined) keepFirst(podUid, killedAt.get(podUid) ?? atMs);
  };
  return {
    name: "sidecarsOutliveMains",
    sees: [...LIVE_SIGHTS, ...GOING_SIGHTS, "event", "call"],
    check(observation) {
      live.look(observation);
      going.look(observation);
      if (observation.kind === "kubelet")
        for (const kept of [beganAt, ownGrace, killedAt, ownStops, shutDown]) kept.clear();
      if (observation.kind === "removed" && isPodsLast(observation.what)) {
        for (const kept of [beganAt, ownGrace, killedAt, shutDown]) kept.delete(observation.podUid);
      }
      // The Killing event precedes preStop hooks, whose time counts toward the grace period.
      if (observation.kind === "event" && observation.event.reason === "Killing") {
        const { uid, fieldPath } = observation.event.object;
        const name = /\{(.*)\}/.exec(fieldPath)?.[1] ?? "";
        if (observation.event.message !== stoppingMessage(name)) ownStops.add(`${uid}/${name}`);
        killedAt.set(uid, killedAt.get(uid) ?? observation.atMs);
        begin(uid, observation.atMs);
      }
      if (observation.kind === "change" && observation.change.kind === "container started") {
        const { podUid, name } = observation.change;
        killedAt.delete(podUid);
        ownStops.delete(`${podUid}/${containerNameOf(name)}`);
      }
      if (observation.kind === "status") {
        if (observation.after === undefined) forgotten.add(observation.podUid);
        else forgotten.delete(observation.podUid);
      }
      // The kubelet may end a pod on its own decision, before a source does, and before the status shows it.
      if (observation.kind === "status" && isOver(observation.after)) {
        const { podUid, atMs } = observation;
        if (observation.after?.reason === SHUTDOWN_STATUS.reason) shutDown.add(podUid);
        // A later deletion with a longer grace period does not extend this termination.
        const { terminationGracePeriodSeconds = DEFAULT_SECONDS } = live.pod(podUid)?.spec ?? {};
        // An eviction at a hard threshold leaves a pod one second; the simulated node has no soft thresholds.
        if (observation.after?.reason === "Evicted") ownGrace.set(podUid, IMMEDIATE_EVICTION_GRACE_SECONDS);
        else if (!beganAt.has(podUid)) ownGrace.set(podUid, terminationGracePeriodSeconds);
        keepFirst(podUid, killedAt.get(podUid) ?? atMs);
      }
      if (observation.kind !== "call" || observation.rpc !== "StopContainer") return undefined;
      const { podUid, subject, atMs } = observation;
      begin(podUid, atMs);
      const graceMs = Math.min(going.shortestSeconds(podUid) ?? 0, ownGrace.get(podUid) ?? Infinity) * 1000;
      const stopped = live.spec({ podUid, name: containerNameOf(subject) ?? "" });
      if (stopped !== undefined && !isSidecar(stopped) && shutDown.has(podUid)) {
        ownGrace.set(podUid, Math.min(ownGrace.get(podUid) ?? Infinity, observation.graceSeconds ?? Infinity));
      }
      if (stopped === undefined || !isSidecar(stopped) || forgotten.has(podUid)) return undefined;
      // A restart of the changed sidecar may cross the update that terminates the pod.
      if (going.graceSeconds(podUid, atMs) === Infinity || ownStops.has(`${podUid}/${stopped.name}`)) return undefined;
      const endBeganAt = beganAt.get(podUid) ?? -Infinity;
      if (atMs + ROUNDING_MS >= endBeganAt + graceMs) return undefined;
      const mains = new Set(live.pod(podUid)?.spec.containers.map(({ name }) => name));
      const main = live.ofPod(podUid).find(({ name, startedAtMs }) => mains.has(name) && startedAtMs <= endBeganAt);
      return main === undefined ? undefined : `sidecar ${subject} is stopped while ${main.subject} runs`;
    },
  };
}
