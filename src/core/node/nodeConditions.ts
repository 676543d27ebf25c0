/**
 * The Node conditions that the kubelet owns. core/eviction/nodePressure.ts decides how long a pressure lasts. Upstream:
 * MemoryPressureCondition, DiskPressureCondition, PIDPressureCondition and ReadyCondition in
 * pkg/kubelet/nodestatus/setters.go.
 */
import type { Node } from "../api.ts";
import type { NodeFacts, NodePressures } from "./nodeFacts.ts";

export type NodeCondition = NonNullable<NonNullable<Node["status"]>["conditions"]>[number];

type Reported = Pick<NodeCondition, "reason" | "message">;

interface PressureCondition {
  readonly type: string;
  readonly of: keyof NodePressures;
  readonly under: Reported;
  readonly free: Reported;
}

const PRESSURES: readonly PressureCondition[] = [
  {
    type: "MemoryPressure",
    of: "memory",
    under: { reason: "KubeletHasInsufficientMemory", message: "kubelet has insufficient memory available" },
    free: { reason: "KubeletHasSufficientMemory", message: "kubelet has sufficient memory available" },
  },
  {
    type: "DiskPressure",
    of: "disk",
    under: { reason: "KubeletHasDiskPressure", message: "kubelet has disk pressure" },
    free: { reason: "KubeletHasNoDiskPressure", message: "kubelet has no disk pressure" },
  },
  {
    type: "PIDPressure",
    of: "pid",
    under: { reason: "KubeletHasInsufficientPID", message: "kubelet has insufficient PID available" },
    free: { reason: "KubeletHasSufficientPID", message: "kubelet has sufficient PID available" },
  },
];
const NOT_CHECKED = "container runtime status check may not have completed yet";
const REQUIRED_CAPACITY = ["cpu", "memory", "pods"];

/**
 * Returns the node with its conditions at `now` (RFC 3339); a new Ready condition comes last. Call `withResources`
 * first.
 */
export function withConditions(node: Node, { problems, pressures, settings }: NodeFacts, now: string): Node {
  const capacity = node.status?.capacity ?? {};
  const required = [...REQUIRED_CAPACITY, ...(settings.hasEphemeralStorage ? ["ephemeral-storage"] : [])];
  const missing = required.filter((name) => capacity[name] === undefined);
  const before = node.status?.conditions ?? [];
  // While the state is unknown, the last reported condition stays: a kubelet restart makes no node unready.
  const known = problems ?? (conditionOf(node, "Ready") === undefined ? [NOT_CHECKED] : undefined);
  const own = [
    ...PRESSURES.map((pressure) => pressureOf(pressure, pressures)),
    known === undefined ? (conditionOf(node, "Ready") as NodeCondition) : readyOf(withMissing(known, missing)),
  ];
  const replaced = before.map((old) => {
    const found = own.find(({ type }) => type === old.type);
    return found === undefined ? old : dated(found, old, now);
  });
  const added = own.filter(({ type }) => before.every((old) => old.type !== type));
  const conditions = [...replaced, ...added.map((condition) => dated(condition, undefined, now))];
  return { ...node, status: { ...node.status, conditions } };
}

const withMissing = (faults: readonly string[], missing: readonly string[]): readonly string[] =>
  missing.length === 0 ? faults : [...faults, `missing node capacity for resources: ${missing.join(", ")}`];

function pressureOf({ type, of, under, free }: PressureCondition, pressures: NodePressures): NodeCondition {
  return pressures[of] ? { type, status: "True", ...under } : { type, status: "False", ...free };
}

const readyOf = (faults: readonly string[]): NodeCondition =>
  faults.length === 0
    ? { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" }
    : { type: "Ready", status: "False", reason: "KubeletNotReady", message: aggregate(faults) };

/** Joins several errors into one text, each once. Upstream: apimachinery's errors.Aggregate. */
function aggregate(messages: readonly string[]): string {
  const [first = "", ...others] = [...new Set(messages)];
  return others.length === 0 ? first : `[${[first, ...others].join(", ")}]`;
}

function dated(condition: NodeCondition, before: NodeCondition | undefined, now: string): NodeCondition {
  const since = before?.status === condition.status ? before.lastTransitionTime : undefined;
  return { ...condition, lastHeartbeatTime: now, lastTransitionTime: since ?? now };
}

/** Returns a node's condition of this type. */
export const conditionOf = (node: Node | undefined, type: string): NodeCondition | undefined =>
  node?.status?.conditions?.find((condition) => condition.type === type);
