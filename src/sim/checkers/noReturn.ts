/**
 * No part of an API pod starts once the API server has its end, or once the kubelet knew that the server had removed it:
 * not even after a power cut, with the API server away. A pod that the server dropped just before the kubelet ended may
 * come back: its record was still on disk.
 */
import type { CriRpc } from "../../core/criOperations.ts";
import { isMirrorPod } from "../../core/pod/mirrorPod.ts";
import { isRestored } from "../../core/pod/restoredMark.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import type { SimChecker } from "../simChecker.ts";

const STARTS: ReadonlySet<CriRpc> = new Set<CriRpc>(["RunPodSandbox", "CreateContainer", "StartContainer"]);
/** Time within which the record of a dropped pod leaves the disk. */
const NOTED_MS = 10_000;

/** Bound: all API pods that were ever on the node. */
export function noReturn(): SimChecker {
  let wanted: ReadonlySet<string> = new Set();
  const droppedAt = new Map<string, number>();
  const ended = new Set<string>();
  return {
    name: "noReturn",
    sees: ["wanted", "object", "call", "kubelet"],
    check(observation) {
      const { atMs } = observation;
      switch (observation.kind) {
        case "wanted":
          // Pods from disk say nothing of what the API server wants.
          if (observation.source !== "api" || observation.pods.some(isRestored)) return undefined;
          for (const uid of wanted) if (!observation.podUids.has(uid)) droppedAt.set(uid, atMs);
          for (const uid of observation.podUids) droppedAt.delete(uid);
          wanted = observation.podUids;
          return undefined;
        case "object": {
          const { metadata, status } = observation.object;
          if (!isMirrorPod(observation.object) && isTerminalPhase(status?.phase)) ended.add(metadata?.uid ?? "");
          return undefined;
        }
        case "kubelet":
          if (observation.what !== "crashed") return undefined;
          for (const [uid, sinceMs] of droppedAt) if (atMs - sinceMs < NOTED_MS) droppedAt.delete(uid);
          return undefined;
        case "call": {
          const { rpc, podUid, subject } = observation;
          if (!STARTS.has(rpc)) return undefined;
          if (ended.has(podUid)) return `${rpc} of ${subject}, although the API server has the end of its pod`;
          const sinceMs = droppedAt.get(podUid);
          const isLate = sinceMs !== undefined && atMs - sinceMs >= NOTED_MS;
          return isLate ? `${rpc} of ${subject} ${atMs - sinceMs} ms after the API server dropped its pod` : undefined;
        }
        default:
          return undefined;
      }
    },
  };
}
