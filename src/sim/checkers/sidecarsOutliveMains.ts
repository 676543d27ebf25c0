/**
 * When a pod ends, a sidecar is asked to stop only after the regular containers have ended, or after the grace period
 * of the pod, counted from the first kill this kubelet tells of, be it for a new sandbox: a deletion that comes meanwhile
 * does not begin it again. A start that was under way by then may still finish: nobody waits for what it made. A sidecar that was being stopped for a reason of its own by then keeps its own time.
 */
import type { PodStatus } from "../../core/api.ts";
import { stoppingMessage } from "../../core/pod/podEvents.ts";
import { isSidecar } from "../../core/pod/restartRules.ts";
import type { SimChecker } from "../simChecker.ts";
import { DEFAULT_SECONDS, goingPods, GOING_SIGHTS } from "./goingPods.ts";
import { containerNameOf, liveContainers, LIVE_SIGHTS } from "./liveContainers.ts";
import { isPodsLast } from "../simObservation.ts";

const isOver = (status: PodStatus | undefined): boolean => status?.phase === "Failed" || status?.phase === "Succeeded";

/** Timers are due at fractions of a millisecond. */
const ROUNDING_MS = 10;

export function sidecarsOutliveMains(live = liveContainers()): SimChecker {
  const going = goingPods();
  /** When the end of each pod began, by UID, in milliseconds. */
  const beganAt = new Map<string, number>();
  /** The first kill told of since anything of the pod was started, by UID. */
  const killedAt = new Map<string, number>();
  /** Containers that are being stopped, and not for the end of their pod, as `uid/name`. */
  const ownStops = new Set<string>();
  /** Pods the kubelet has forgotten: what is found of them later gets a second, whatever they were. */
  const forgotten = new Set<string>();
  /** Seconds that pods get whose end was the kubelet's own decision, by UID. */
  const ownGrace = new Map<string, number>();
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
      if (observation.kind === "kubelet") {
        beganAt.clear();
        ownGrace.clear();
        killedAt.clear();
        ownStops.clear();
      }
      if (observation.kind === "removed" && isPodsLast(observation.what)) {
        beganAt.delete(observation.podUid);
        ownGrace.delete(observation.podUid);
        killedAt.delete(observation.podUid);
      }
      // Hooks come before the first stop, and their time counts.
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
      // The end may be the kubelet's own decision, before any source tells of it, and begun before its status says so.
      if (observation.kind === "status" && isOver(observation.after)) {
        const { podUid, atMs } = observation;
        // A deletion that gives more than the end it comes after does not prolong that.
        const { terminationGracePeriodSeconds = DEFAULT_SECONDS } = live.pod(podUid)?.spec ?? {};
        if (!beganAt.has(podUid)) ownGrace.set(podUid, terminationGracePeriodSeconds);
        keepFirst(podUid, killedAt.get(podUid) ?? atMs);
      }
      if (observation.kind !== "call" || observation.rpc !== "StopContainer") return undefined;
      const { podUid, subject, atMs } = observation;
      begin(podUid, atMs);
      const graceMs = Math.min(going.shortestSeconds(podUid) ?? 0, ownGrace.get(podUid) ?? Infinity) * 1000;
      const stopped = live.spec({ podUid, name: containerNameOf(subject) ?? "" });
      if (stopped === undefined || !isSidecar(stopped) || forgotten.has(podUid)) return undefined;
      // A restart for a change of its own may cross the word that the pod is to go.
      if (going.graceSeconds(podUid, atMs) === Infinity || ownStops.has(`${podUid}/${stopped.name}`)) return undefined;
      const endBeganAt = beganAt.get(podUid) ?? -Infinity;
      if (atMs + ROUNDING_MS >= endBeganAt + graceMs) return undefined;
      const mains = new Set(live.pod(podUid)?.spec.containers.map(({ name }) => name));
      const main = live.ofPod(podUid).find(({ name, startedAtMs }) => mains.has(name) && startedAtMs <= endBeganAt);
      return main === undefined ? undefined : `sidecar ${subject} is stopped while ${main.subject} runs`;
    },
  };
}
