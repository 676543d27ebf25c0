/**
 * A pod the kubelet starts fits beside those it was told of before: pods with a sandbox that have not ended, at the sizes
 * it has granted them. What it is told of later may have been running all along, from an earlier life of the kubelet, and
 * is not judged again. A pod that is granted more fits beside all of them. A stop that took too long gives its room away.
 */
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import { podRequests } from "../../core/resources/podResources.ts";
import {
  minResources,
  parseResourceList,
  type ResourceList,
  resourceMilli,
  resourceValue,
} from "../../core/resources/resourceList.ts";
import { type HostPorts, hostPortsOf, nodeMisfit } from "./nodeMisfit.ts";
import { createPodSandboxes } from "./podSandboxes.ts";
import type { SimChecker } from "../simChecker.ts";
import type { SimObservation } from "../simObservation.ts";

export function admittedFits(config: Pick<KubeletConfig, "allocatable" | "maxPods">): SimChecker {
  const fault = nodeMisfit(config);
  /** When this life of the kubelet was told of a pod: a number that grows. */
  const toldAt = new Map<string, number>();
  const granted = createGrants();
  const sandboxes = createPodSandboxes();
  const ports = new Map<string, HostPorts>();
  const ended = new Set<string>();
  /** Pods whose stop is stuck: the critical pod they were to make room for waits no longer. */
  const overdue = new Set<string>();
  let snapshots = 0;
  /** What those take that were known by then; undefined when it fits. */
  const misfit = (knownBy: number): string | undefined => {
    const running = [...toldAt].flatMap(([uid, since]) => {
      if (since > knownBy || !sandboxes.hasReady(uid) || ended.has(uid) || overdue.has(uid)) return [];
      return [{ size: granted.of(uid), ports: ports.get(uid) ?? [] }];
    });
    return fault(running);
  };
  const afterwards = (found: string | undefined, name: string, done: string): string | undefined =>
    found === undefined ? undefined : `${found} after ${name} was ${done}`;
  /** Pods that were granted more: judged when all that was told at that instant is known. */
  let grown: { readonly atMs: number; readonly subject: string } | undefined;
  const resized = ({ atMs }: SimObservation): string | undefined => {
    if (grown === undefined || grown.atMs === atMs) return undefined;
    const { subject } = grown;
    grown = undefined;
    return afterwards(misfit(Infinity), subject, "resized");
  };
  const note = (observation: SimObservation): string | undefined => {
    switch (observation.kind) {
      case "kubelet":
        toldAt.clear();
        return undefined;
      case "wanted":
        snapshots += 1;
        for (const pod of observation.news) {
          const { uid } = pod.metadata;
          granted.wants(uid, podRequests(pod));
          ports.set(uid, hostPortsOf(pod));
          toldAt.set(uid, toldAt.get(uid) ?? snapshots);
        }
        return undefined;
      case "status":
        if (isTerminalPhase(observation.after?.phase)) ended.add(observation.podUid);
        if (granted.told(observation)) grown = observation;
        return undefined;
      case "call":
        // One that is under way when its pod ends makes a sandbox that is stopped right away.
        if (observation.rpc === "RunPodSandbox") ended.delete(observation.podUid);
        return undefined;
      case "event":
        if (observation.event.reason === "ExceededGracePeriod") overdue.add(observation.event.object.uid);
        return undefined;
      case "change": {
        const { podUid, name } = observation.change;
        if (!sandboxes.note(observation.change)) return undefined;
        const since = toldAt.get(podUid);
        return since === undefined ? undefined : afterwards(misfit(since), name, "started");
      }
      default:
        return undefined;
    }
  };
  return {
    name: "admittedFits",
    check(observation) {
      const found = resized(observation);
      return note(observation) ?? found;
    },
  };
}

const NONE: ResourceList = new Map();

/**
 * What each pod was granted: at first what it asked for, then what its status says, also over a restart of the kubelet.
 * Never more than it asks for: less is granted at once, but told only when the pod could be inspected.
 */
function createGrants() {
  const told = new Map<string, ResourceList>();
  const wanted = new Map<string, ResourceList>();
  const isMore = (size: ResourceList, before: ResourceList): boolean =>
    resourceMilli(size, "cpu") > resourceMilli(before, "cpu") ||
    resourceValue(size, "memory") > resourceValue(before, "memory");
  return {
    of: (uid: string): ResourceList => minResources(told.get(uid) ?? NONE, wanted.get(uid) ?? NONE),
    wants(uid: string, size: ResourceList): void {
      wanted.set(uid, size);
      told.set(uid, told.get(uid) ?? size);
    },
    /** Whether the status tells of more than was granted before. */
    told({ podUid, after }: SimObservation & { readonly kind: "status" }): boolean {
      if (after?.allocatedResources === undefined) return false;
      const size = parseResourceList(after.allocatedResources);
      const hasGrown = isMore(size, told.get(podUid) ?? NONE);
      told.set(podUid, size);
      return hasGrown;
    },
  };
}
