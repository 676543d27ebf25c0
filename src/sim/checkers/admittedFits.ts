/**
 * A pod the kubelet starts fits beside those it was told of before: pods with a sandbox that have not ended. What it is
 * told of later may have been running all along, from an earlier life of the kubelet, and is not judged again.
 */
import type { Pod } from "../../core/api.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import { podRequests } from "../../core/resources/podResources.ts";
import { resourceMilli, resourceValue } from "../../core/resources/resourceList.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { parseResourceList } from "../../core/resources/resourceList.ts";
import type { SimChecker } from "../simChecker.ts";

export function admittedFits({ allocatable, maxPods }: Pick<KubeletConfig, "allocatable" | "maxPods">): SimChecker {
  const room = parseResourceList(allocatable);
  const known = new Map<string, { readonly pod: Pod; readonly since: number }>();
  let snapshots = 0;
  const ended = new Set<string>();
  /** Ready sandboxes by pod UID. */
  const sandboxes = new Map<string, Set<string>>();
  const misfit = (started: string): string | undefined => {
    const toldAt = known.get(started)?.since;
    if (toldAt === undefined) return undefined;
    let [cpuMilli, memoryBytes, pods] = [0n, 0n, 0];
    for (const [uid, { pod, since }] of known) {
      if (since > toldAt || !sandboxes.has(uid) || ended.has(uid)) continue;
      const requests = podRequests(pod);
      cpuMilli += resourceMilli(requests, "cpu");
      memoryBytes += resourceValue(requests, "memory");
      pods += 1;
    }
    if (cpuMilli > resourceMilli(room, "cpu")) return `running pods request ${cpuMilli}m of cpu`;
    if (memoryBytes > resourceValue(room, "memory")) return `running pods request ${memoryBytes} bytes of memory`;
    return pods > maxPods ? `${pods} pods run` : undefined;
  };
  return {
    name: "admittedFits",
    check(observation) {
      switch (observation.kind) {
        case "kubelet":
          known.clear();
          return undefined;
        case "wanted":
          snapshots += 1;
          for (const pod of observation.pods) {
            const { uid } = pod.metadata;
            known.set(uid, { pod, since: known.get(uid)?.since ?? snapshots });
          }
          return undefined;
        case "status":
          if (isTerminalPhase(observation.after?.phase)) ended.add(observation.podUid);
          return undefined;
        case "call":
          // One that is under way when its pod ends makes a sandbox that is stopped right away.
          if (observation.rpc === "RunPodSandbox") ended.delete(observation.podUid);
          return undefined;
        case "change": {
          const { kind, id, podUid } = observation.change;
          const ofPod = sandboxes.get(podUid) ?? new Set<string>();
          if (kind === "sandbox stopped" || kind === "sandbox removed") {
            ofPod.delete(id);
            if (ofPod.size === 0) sandboxes.delete(podUid);
          }
          if (kind !== "sandbox created") return undefined;
          sandboxes.set(podUid, ofPod.add(id));
          const found = misfit(podUid);
          return found === undefined ? undefined : `${found} after ${observation.change.name} was started`;
        }
        default:
          return undefined;
      }
    },
  };
}
