/**
 * The kubelet rejects no pod for lack of capacity that terminating pods are about to free: a rejected pod does not fit
 * beside the pods that stay.
 */
import type { PodStatus } from "../../core/api.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import { podRequests } from "../../core/resources/podResources.ts";
import { maxResources, parseResourceList } from "../../core/resources/resourceList.ts";
import type { SimChecker } from "../simChecker.ts";
import { hostPortsOf, nodeMisfit, type TakenPart } from "./nodeMisfit.ts";
import { createPodSandboxes } from "./podSandboxes.ts";
import { createStayingPods } from "./stayingPods.ts";

/** Resources that a preemption looked for in vain. */
const RECLAIMED = /\(res: ([^,]+), q: /g;

const ENDING: ReadonlySet<string> = new Set(["Preempting", "Evicted"]);

/** Refusals by the managers of hardware: the place of what is free counts, not its amount, and plugins may refuse. */
const FOR_HARDWARE = /: Allocate failed due to /;

/**
 * Whether a rejection has a reason of capacity. The checker knows only the resources of the configuration: the amount
 * of any other extended resource is in the Node, which no observation shows.
 */
const isForResources = ({ reason = "", message = "" }: PodStatus, resources: KubeletConfig["allocatable"]): boolean => {
  if (FOR_HARDWARE.test(message)) return false;
  const isKnown = (resource: string): boolean => !resource.includes("/") || Object.hasOwn(resources, resource);
  if (reason === "UnexpectedAdmissionError") {
    return [...message.matchAll(RECLAIMED)].every(([, resource = ""]) => isKnown(resource));
  }
  return reason === "NodePorts" || (reason.startsWith("OutOf") && isKnown(reason.slice("OutOf".length)));
};

export function resourcesAreAwaited(config: Pick<KubeletConfig, "allocatable" | "maxPods">): SimChecker {
  const fault = nodeMisfit(config);
  const sandboxes = createPodSandboxes();
  const staying = createStayingPods(sandboxes);
  /** Largest requested or allocated size of each pod. */
  const parts = new Map<string, TakenPart>();
  const enlarge = (uid: string, part: TakenPart): void => {
    const before = parts.get(uid);
    const size = before === undefined ? part.size : maxResources(before.size, part.size);
    parts.set(uid, { size, ports: part.ports });
  };
  /** Whether the pod fits beside the pods that stay. */
  const fits = (uid: string, atMs: number): boolean =>
    fault([uid, ...staying.beside(uid, atMs)].flatMap((each) => parts.get(each) ?? [])) === undefined;
  return {
    name: "resourcesAreAwaited",
    sees: ["kubelet", "wanted", "status", "change", "event"],
    check(observation) {
      const { atMs } = observation;
      switch (observation.kind) {
        case "kubelet":
          staying.restart(atMs);
          return undefined;
        case "wanted":
          staying.snapshot(observation);
          for (const pod of observation.news) {
            enlarge(pod.metadata.uid, { size: podRequests(pod), ports: hostPortsOf(pod) });
          }
          return undefined;
        case "event":
          // A busy pod reports later that it was preempted or evicted.
          if (ENDING.has(observation.event.reason)) {
            staying.goes(observation.event.object.uid, atMs, observation.event.reason === "Preempting");
          }
          return undefined;
        case "change":
          sandboxes.note(observation.change);
          return undefined;
        case "status": {
          const { podUid, subject, after, before } = observation;
          if (after === undefined) {
            staying.forget(podUid);
            return undefined;
          }
          staying.decided(atMs);
          const { phase, reason, allocatedResources } = after;
          const known = parts.get(podUid);
          if (allocatedResources !== undefined && known !== undefined) {
            enlarge(podUid, { ...known, size: parseResourceList(allocatedResources) });
          }
          if (!isTerminalPhase(phase)) return undefined;
          const isNews = !isTerminalPhase(before?.phase) && !staying.isOver(podUid);
          const isRejection = phase === "Failed" && isForResources(after, config.allocatable) && isNews;
          if (!isRejection) {
            staying.goes(podUid, atMs, reason === "Preempting");
            return undefined;
          }
          staying.ended(podUid, atMs);
          return fits(podUid, atMs)
            ? `${subject} was rejected (${reason}) but fits beside the pods that stay`
            : undefined;
        }
        default:
          return undefined;
      }
    },
  };
}
