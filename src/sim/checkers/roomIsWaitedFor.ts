/**
 * Nobody is rejected for want of room that others are about to free. What stays are the pods the sources of this kubelet
 * want and have not deleted, those that wait for room among them; not those that are over. A pod that this kubelet has not
 * let go of within a minute may count as staying, and so may what runs then since before it started.
 */
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { PodSource } from "../../core/pod/sourceSnapshot.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import { podRequests } from "../../core/resources/podResources.ts";
import { maxResources, parseResourceList } from "../../core/resources/resourceList.ts";
import type { SimChecker } from "../simChecker.ts";
import type { SimObservation } from "../simObservation.ts";
import { hostPortsOf, nodeMisfit, type TakenPart } from "./nodeMisfit.ts";
import { createPodSandboxes } from "./podSandboxes.ts";

/** The shortest time a pod has to stop while others wait for its room. */
const SHORTEST_WAIT_MS = 60_000;

/**
 * Reasons of rejections for want of room. The checker knows only the resources of the configuration: the amount of any
 * other extended resource is in the Node, which no observation shows.
 */
const isForRoom = (reason: string, resources: KubeletConfig["allocatable"]): boolean => {
  if (reason === "UnexpectedAdmissionError" || reason === "NodePorts") return true;
  if (!reason.startsWith("OutOf")) return false;
  const resource = reason.slice("OutOf".length);
  return !resource.includes("/") || Object.hasOwn(resources, resource);
};

export function roomIsWaitedFor(config: Pick<KubeletConfig, "allocatable" | "maxPods">): SimChecker {
  const fault = nodeMisfit(config);
  const sandboxes = createPodSandboxes();
  /** The most each pod ever asked for or was granted. */
  const parts = new Map<string, TakenPart>();
  const wanted = new Map<PodSource, ReadonlySet<string>>();
  /** Since when a pod is to go, or is over, and how many snapshots had come by then. */
  const going = new Map<string, { readonly atMs: number; readonly snapshots: number }>();
  /** Those of them that a source wants again: they start over. */
  const returned = new Set<string>();
  /** How many snapshots had come when a pod was told of. */
  const toldOf = new Map<string, number>();
  let snapshots = 0;
  /** Pods that are over when this kubelet hears of them, and those that it rejects. */
  const over = new Set<string>();
  let startedAtMs = 0;
  const enlarge = (uid: string, part: TakenPart): void => {
    const before = parts.get(uid);
    const size = before === undefined ? part.size : maxResources(before.size, part.size);
    parts.set(uid, { size, ports: part.ports });
  };
  const goes = (uid: string, atMs: number): void => void going.set(uid, going.get(uid) ?? { atMs, snapshots });
  const told = ({ atMs, source, podUids, news }: SimObservation & { readonly kind: "wanted" }): void => {
    snapshots += 1;
    const before = wanted.get(source) ?? new Set();
    for (const uid of before) {
      if (podUids.has(uid)) continue;
      goes(uid, atMs);
      returned.delete(uid);
    }
    wanted.set(source, podUids);
    for (const pod of news) {
      const { uid, deletionTimestamp } = pod.metadata;
      toldOf.set(uid, toldOf.get(uid) ?? snapshots);
      enlarge(uid, { size: podRequests(pod), ports: hostPortsOf(pod) });
      const isOver = isTerminalPhase(pod.status?.phase);
      if (isOver) over.add(uid);
      if (isOver || deletionTimestamp !== undefined) goes(uid, atMs);
      else if (!before.has(uid) && going.has(uid)) returned.add(uid);
    }
  };
  const stays = (uid: string, isWanted: boolean, rejected: string, atMs: number): boolean => {
    const since = going.get(uid);
    // The word of its end may have crossed the decision.
    if (since?.atMs === atMs && since.snapshots > (toldOf.get(rejected) ?? 0)) return true;
    const isSlow = atMs - (since?.atMs ?? startedAtMs) >= SHORTEST_WAIT_MS;
    // A kubelet whose runtime is down does not see that a pod has stopped.
    return (
      (isWanted && (since === undefined || returned.has(uid))) ||
      (isSlow && (since !== undefined || sandboxes.hasAny(uid)))
    );
  };
  /** Whether the pod fits beside those who stay. */
  const fits = (uid: string, atMs: number): boolean => {
    const isWanted = new Set([...wanted.values()].flatMap((uids) => [...uids]));
    const others = new Set([...isWanted, ...going.keys(), ...sandboxes.uids()]);
    const staying = [...others].filter(
      (other) => other !== uid && !over.has(other) && stays(other, isWanted.has(other), uid, atMs),
    );
    return fault([uid, ...staying].flatMap((each) => parts.get(each) ?? [])) === undefined;
  };
  return {
    name: "roomIsWaitedFor",
    sees: ["kubelet", "wanted", "status", "change"],
    check(observation) {
      const { atMs } = observation;
      switch (observation.kind) {
        case "kubelet":
          wanted.clear();
          going.clear();
          returned.clear();
          toldOf.clear();
          over.clear();
          startedAtMs = atMs;
          return undefined;
        case "wanted":
          told(observation);
          return undefined;
        case "change":
          sandboxes.note(observation.change);
          return undefined;
        case "status": {
          const { podUid, subject, after, before } = observation;
          if (after === undefined) {
            going.delete(podUid);
            returned.delete(podUid);
            toldOf.delete(podUid);
            over.delete(podUid);
            return undefined;
          }
          const { phase, reason, allocatedResources } = after;
          const known = parts.get(podUid);
          if (allocatedResources !== undefined && known !== undefined) {
            enlarge(podUid, { ...known, size: parseResourceList(allocatedResources) });
          }
          if (!isTerminalPhase(phase)) return undefined;
          const isNews = !isTerminalPhase(before?.phase) && !over.has(podUid);
          const isRejection = phase === "Failed" && isForRoom(reason ?? "", config.allocatable) && isNews;
          if (!isRejection) {
            goes(podUid, atMs);
            return undefined;
          }
          over.add(podUid);
          return fits(podUid, atMs) ? `${subject} was rejected (${reason}) and fits beside those who stay` : undefined;
        }
        default:
          return undefined;
      }
    },
  };
}
