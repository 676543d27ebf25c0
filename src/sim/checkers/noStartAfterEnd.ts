/**
 * Nothing starts after the end began. The end of a pod that is no longer wanted begins with the first stop (or removal)
 * the kubelet asks for after it was told; a start that was under way before that may still finish. A pod that has
 * Succeeded or Failed begins to end when it says so. A new beginning needs all of the old pod gone from the runtime.
 */
import type { PodStatus } from "../../core/api.ts";
import type { CriRpc } from "../../core/criOperations.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import type { PodSource } from "../../core/pod/sourceSnapshot.ts";
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

/** Why nothing of a pod may start. */
type End = "unwanted" | "stopping" | "ending" | "over";

// What is over is removed once its source has taken it back; a kubelet that ends meanwhile leaves no word of it.
const takenBack = (end: End | undefined): End => (end === undefined || end === "unwanted" ? "unwanted" : "stopping");
// Nor is word left of an end that was told before all had ended (a preempted pod), until the server has heard of it.
function ended(end: End | undefined, { containerStatuses = [] }: PodStatus): End {
  if (end === "over" || end === "ending") return end;
  if (end !== undefined) return "stopping";
  return containerStatuses.some(({ state }) => state?.terminated === undefined) ? "ending" : "over";
}

export function noStartAfterEnd(): SimChecker {
  const wanted = new Map<PodSource, ReadonlySet<string>>();
  /** Unwanted pods, and why nothing of them may start once something was stopped. */
  const ends = new Map<string, End>();
  const parts = podParts();
  const told = ({ source, podUids }: SimObservation & { readonly kind: "wanted" }): void => {
    for (const uid of wanted.get(source) ?? []) if (!podUids.has(uid)) ends.set(uid, takenBack(ends.get(uid)));
    // Wanted again before anything of it was stopped, or when nothing is left: as if nothing had been.
    for (const uid of podUids) if (ends.get(uid) === "unwanted" || !parts.has(uid)) ends.delete(uid);
    wanted.set(source, podUids);
  };
  return {
    name: "noStartAfterEnd",
    sees: ["wanted", "status", "object", "change", "kubelet", "call"],
    check(observation) {
      switch (observation.kind) {
        case "wanted":
          told(observation);
          return undefined;
        case "status":
          if (observation.after === undefined || !isTerminalPhase(observation.after.phase)) return undefined;
          ends.set(observation.podUid, ended(ends.get(observation.podUid), observation.after));
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
        case "kubelet":
          // The next kubelet knows only what it finds: a pod wanted again is adopted as it is.
          for (const [uid, end] of ends) if (end !== "over") ends.delete(uid);
          return undefined;
        case "call": {
          const { rpc, podUid, subject } = observation;
          const end = ends.get(podUid);
          if (end === "unwanted" && ENDS.has(rpc)) ends.set(podUid, "stopping");
          const isBroken = STARTS.has(rpc) && end !== undefined && end !== "unwanted";
          return isBroken ? `${rpc} of ${subject} after its pod began to end (${end})` : undefined;
        }
        default:
          return undefined;
      }
    },
  };
}
