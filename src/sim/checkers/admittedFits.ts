/**
 * A pod that the kubelet starts fits beside the pods it knew before: those with a ready sandbox that are not terminal,
 * at their allocated sizes. Pods that the kubelet learned of later are left out: they may have run since an earlier
 * process of the kubelet, which the new process does not admit again. A pod whose allocation grows fits beside all
 * running pods. A pod that exceeds its grace period no longer counts.
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
  /** Number of the first snapshot in which this process of the kubelet saw a pod, by UID. */
  const reportedAt = new Map<string, number>();
  const granted = createGrants();
  const sandboxes = createPodSandboxes();
  const ports = new Map<string, HostPorts>();
  const ended = new Set<string>();
  /** Pods whose stop exceeded the grace period: the critical pod that preempted them no longer waits. */
  const overdue = new Set<string>();
  let snapshots = 0;
  /** Describes how the running pods known by snapshot `knownBy` exceed the node; undefined when they fit. */
  const misfit = (knownBy: number): string | undefined => {
    const running = [...reportedAt].flatMap(([uid, since]) => {
      if (since > knownBy || !sandboxes.hasReady(uid) || ended.has(uid) || overdue.has(uid)) return [];
      return [{ size: granted.of(uid), ports: ports.get(uid) ?? [] }];
    });
    return fault(running);
  };
  const afterwards = (found: string | undefined, name: string, done: string): string | undefined =>
    found === undefined ? undefined : `${found} after ${name} was ${done}`;
  /** A pod whose allocation grew: judged after all observations of that instant. */
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
        reportedAt.clear();
        return undefined;
      case "wanted":
        snapshots += 1;
        for (const pod of observation.news) {
          const { uid } = pod.metadata;
          granted.wants(uid, podRequests(pod));
          ports.set(uid, hostPortsOf(pod));
          reportedAt.set(uid, reportedAt.get(uid) ?? snapshots);
        }
        return undefined;
      case "status":
        if (isTerminalPhase(observation.after?.phase)) ended.add(observation.podUid);
        if (granted.reported(observation)) grown = observation;
        return undefined;
      case "call":
        // A request under way when its pod ends creates a sandbox, which the kubelet stops at once.
        if (observation.rpc === "RunPodSandbox") {
          ended.delete(observation.podUid);
          overdue.delete(observation.podUid);
        }
        return undefined;
      case "event":
        if (observation.event.reason === "ExceededGracePeriod") overdue.add(observation.event.object.uid);
        return undefined;
      case "change": {
        const { podUid, name } = observation.change;
        if (!sandboxes.note(observation.change)) return undefined;
        const since = reportedAt.get(podUid);
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
 * Allocated resources by pod: first the requests of the spec, then those of the status, also across a restart of the
 * kubelet. Never more than the spec requests: the kubelet allocates a decrease at once, but reports it only after an
 * inspection of the pod.
 */
function createGrants() {
  const reported = new Map<string, ResourceList>();
  const wanted = new Map<string, ResourceList>();
  const isMore = (size: ResourceList, before: ResourceList): boolean =>
    resourceMilli(size, "cpu") > resourceMilli(before, "cpu") ||
    resourceValue(size, "memory") > resourceValue(before, "memory");
  return {
    of: (uid: string): ResourceList => minResources(reported.get(uid) ?? NONE, wanted.get(uid) ?? NONE),
    wants(uid: string, size: ResourceList): void {
      wanted.set(uid, size);
      reported.set(uid, reported.get(uid) ?? size);
    },
    /** Records the allocated resources of a status; true when they grew. */
    reported({ podUid, after }: SimObservation & { readonly kind: "status" }): boolean {
      if (after?.allocatedResources === undefined) return false;
      const size = parseResourceList(after.allocatedResources);
      const hasGrown = isMore(size, reported.get(podUid) ?? NONE);
      reported.set(podUid, size);
      return hasGrown;
    },
  };
}
