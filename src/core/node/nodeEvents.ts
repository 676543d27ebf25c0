/** Events of a Node: the changes between two of its statuses. Upstream: recordNodeStatusEvent and its callers. */
import type { Node } from "../api.ts";
import type { KubeletEvent } from "../events.ts";
import { conditionOf } from "./nodeConditions.ts";

const PRESSURE_EVENTS = {
  MemoryPressure: { True: "NodeHasInsufficientMemory", False: "NodeHasSufficientMemory" },
  DiskPressure: { True: "NodeHasDiskPressure", False: "NodeHasNoDiskPressure" },
  PIDPressure: { True: "NodeHasInsufficientPID", False: "NodeHasSufficientPID" },
} as const;

/** Returns an event about the node itself. */
export const nodeEvent = (
  name: string,
  reason: string,
  message: string,
  type: KubeletEvent["type"] = "Normal",
): KubeletEvent => ({ type, reason, message, object: { kind: "Node", namespace: "", name, uid: "", fieldPath: "" } });

const MEMORY_ON_DISK =
  "The tmpfs noswap option is not supported. Memory-backed volumes (e.g. secrets, emptyDirs, etc.) " +
  "might be swapped to disk and should no longer be considered secure.";

const CGROUP_V1 =
  "cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a future release. Please migrate to " +
  "cgroup v2. More information at https://git.k8s.io/enhancements/keps/sig-node/5573-remove-cgroup-v1";

/** The facts of the machine that start-up events depend on. */
export interface StartingMachine {
  readonly isSwapOn: boolean;
  /** Whether a tmpfs can be kept out of swap. */
  readonly tmpfsNoSwap: boolean;
  readonly cgroupVersion: 1 | 2 | undefined;
}

/** Returns the events that a kubelet records when it starts. */
export function startEvents(
  name: string,
  { isSwapOn, tmpfsNoSwap, cgroupVersion }: StartingMachine,
): readonly KubeletEvent[] {
  const mayReachDisk = isSwapOn && !tmpfsNoSwap;
  return [
    nodeEvent(name, "Starting", "Starting kubelet."),
    ...(mayReachDisk ? [nodeEvent(name, "PossibleMemoryBackedVolumesOnDisk", MEMORY_ON_DISK, "Warning")] : []),
    ...(cgroupVersion === 1 ? [nodeEvent(name, "CgroupV1", CGROUP_V1, "Warning")] : []),
  ];
}

/** `Node n1 status is now: NodeReady`. */
export const nodeStatusEvent = (name: string, reason: string): KubeletEvent =>
  nodeEvent(name, reason, `Node ${name} status is now: ${reason}`);

/** Returns the events of a written status; a new Node gets no readiness event. */
export function nodeStatusEvents(name: string, older: Node | undefined, newer: Node): readonly KubeletEvent[] {
  const bootId = newer.status?.nodeInfo?.bootID ?? "";
  const before = older?.status?.nodeInfo?.bootID ?? "";
  const rebooted = `Node ${name} has been rebooted, boot id: ${bootId}`;
  const pressures = Object.entries(PRESSURE_EVENTS).flatMap(([type, reasons]) => {
    const status = conditionOf(newer, type)?.status;
    if (status === conditionOf(older, type)?.status) return [];
    return status === "True" || status === "False" ? [nodeStatusEvent(name, reasons[status])] : [];
  });
  const [was, is] = [conditionOf(older, "Ready")?.status, conditionOf(newer, "Ready")?.status];
  const isOtherReadiness = was !== undefined && was !== is;
  return [
    ...(before !== "" && before !== bootId ? [nodeEvent(name, "Rebooted", rebooted, "Warning")] : []),
    ...pressures,
    ...(isOtherReadiness ? [nodeStatusEvent(name, is === "True" ? "NodeReady" : "NodeNotReady")] : []),
  ];
}
