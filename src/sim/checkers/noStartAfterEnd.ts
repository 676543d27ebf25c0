/**
 * No part of a pod starts after its termination began. The termination of a removed pod begins with the first stop or
 * removal request after the source dropped the pod; a start that was under way before may still finish. The termination
 * of a pod that has Succeeded or Failed begins with that status. A pod that returned while it stopped starts again, in a new
 * sandbox, only after all of its old parts have stopped.
 */
import type { PodStatus } from "../../core/api.ts";
import type { CriRpc } from "../../core/criOperations.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import type { PodSource } from "../../core/pod/sourceSnapshot.ts";
import { SHUTDOWN_REASONS } from "../../core/shutdown/shutdownStatus.ts";
import type { SimChecker } from "../simChecker.ts";
import type { SimObservation } from "../simObservation.ts";
import { podParts } from "./podParts.ts";

const STARTS: ReadonlySet<CriRpc> = new Set<CriRpc>(["RunPodSandbox", "CreateContainer", "StartContainer"]);
const ENDS: ReadonlySet<CriRpc> = new Set<CriRpc>([
  "StopContainer",
  "RemoveContainer",
  "StopPodSandbox",
  "RemovePodSandbox",
]);

/** Reasons of ends that only the API server has a record of. */
const UNTOLD: ReadonlySet<string> = new Set(["Preempting", "Evicted", ...SHUTDOWN_REASONS]);

/** Why no part of a pod may start. */
type End = "unwanted" | "stopping" | "ending" | "over";

// A terminal pod is removed once its source drops it; a restart of the kubelet before that leaves no record of it.
const takenBack = (end: End | undefined): End => (end === undefined || end === "unwanted" ? "unwanted" : "stopping");
// A terminal status of a pod with live containers (preemption, eviction) has no record either until the API server
// stores it, which the kubelet asks for only once they have stopped. A sidecar may outlive the main containers.
function ended(end: End | undefined, { containerStatuses = [], initContainerStatuses = [] }: PodStatus): End {
  if (end === "over" || end === "ending") return end;
  if (end !== undefined) return "stopping";
  const isAlive =
    containerStatuses.some(({ state }) => state?.terminated === undefined) ||
    initContainerStatuses.some(({ state }) => state?.running !== undefined);
  return isAlive ? "ending" : "over";
}

export function noStartAfterEnd(): SimChecker {
  const wanted = new Map<PodSource, ReadonlySet<string>>();
  /** Pods no part of which may start, with the reason. */
  const ends = new Map<string, End>();
  const parts = podParts();
  const reported = ({ source, podUids }: SimObservation & { readonly kind: "wanted" }): void => {
    for (const uid of wanted.get(source) ?? []) if (!podUids.has(uid)) ends.set(uid, takenBack(ends.get(uid)));
    // A pod that returns before the first stop request, or after its last part was removed, starts afresh.
    for (const uid of podUids) if (ends.get(uid) === "unwanted" || !parts.has(uid)) ends.delete(uid);
    wanted.set(source, podUids);
  };
  // The next process does not know that a static pod was refused, or ended by a shutdown, nor that a pod whose containers
  // had exited already was preempted, evicted or ended by a shutdown, unless the API server has that status.
  const endOf = (uid: string, status: PodStatus): End => {
    if (ends.get(uid) === undefined && UNTOLD.has(status.reason ?? "")) return "ending";
    const isForgotten = SHUTDOWN_REASONS.includes(status.reason ?? "") || status.containerStatuses === undefined;
    return isForgotten && isStatic(uid) ? "ending" : ended(ends.get(uid), status);
  };
  const isWanted = (uid: string): boolean => [...wanted.values()].some((uids) => uids.has(uid));
  const isStatic = (uid: string): boolean => [...wanted].some(([source, uids]) => source !== "api" && uids.has(uid));
  return {
    name: "noStartAfterEnd",
    sees: ["wanted", "status", "object", "change", "kubelet", "call", "shutdown"],
    check(observation) {
      switch (observation.kind) {
        case "wanted":
          reported(observation);
          return undefined;
        case "status":
          // A pod that is removed before it had any part starts afresh.
          if (observation.after === undefined && !parts.has(observation.podUid)) ends.delete(observation.podUid);
          if (observation.after === undefined || !isTerminalPhase(observation.after.phase)) return undefined;
          ends.set(observation.podUid, endOf(observation.podUid, observation.after));
          return undefined;
        case "object": {
          const { metadata, status } = observation.object;
          const uid = metadata?.uid ?? "";
          if (ends.get(uid) === "ending" && isTerminalPhase(status?.phase)) ends.set(uid, "over");
          return undefined;
        }
        case "change":
          if (parts.isGoneAfter(observation.change)) ends.delete(observation.change.podUid);
          return undefined;
        case "shutdown":
          // Static pods that the shutdown ended or refused start again once it is over.
          for (const [source, uids] of wanted) if (source !== "api") for (const uid of uids) ends.delete(uid);
          return undefined;
        case "kubelet":
          // The next process knows only the runtime's state: it adopts a desired pod unchanged.
          for (const [uid, end] of ends) if (end !== "over") ends.delete(uid);
          return undefined;
        case "call": {
          const { rpc, podUid, subject } = observation;
          const end = ends.get(podUid);
          if (end === "unwanted" && ENDS.has(rpc)) ends.set(podUid, "stopping");
          if (end === "stopping" && rpc === "RunPodSandbox" && isWanted(podUid) && !parts.lives(podUid)) {
            ends.delete(podUid);
            return undefined;
          }
          const isBroken = STARTS.has(rpc) && end !== undefined && end !== "unwanted";
          return isBroken ? `${rpc} of ${subject} after its pod began to end (${end})` : undefined;
        }
        default:
          return undefined;
      }
    },
  };
}
