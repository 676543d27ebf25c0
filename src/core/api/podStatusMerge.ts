/**
 * Merges the kubelet's pod status into the status of the API object and keeps what others wrote.
 * Upstream: mergePodStatus and isPodStatusByKubeletEqual of pkg/kubelet/status/status_manager.go.
 */
import type { PodCondition, PodStatus } from "../api.ts";
import { OWNED_CONDITIONS } from "../pod/conditions.ts";
import { isTerminalPhase } from "../pod/phase.ts";
import { compareQuantity, parseQuantity } from "../quantity.ts";
import { findTyped } from "../findNamed.ts";
import { isJsonObject } from "../json.ts";
import { sameValue } from "../sameValue.ts";

/** The node's facts that a merge depends on. */
export interface StatusMergeOptions {
  /** Containers of the pod may still run; until none does, the pod is not reported as terminal. */
  readonly mayRun: boolean;
  /**
   * The first status that this kubelet reported of the pod. Conditions unchanged since then keep the transition times
   * that the server has.
   */
  readonly first: PodStatus | undefined;
}

/**
 * Status fields that a kubelet writes. The others keep the server's value, also fields that only a newer server has.
 */
const OWN_MEMBERS: ReadonlySet<string> = new Set([
  "observedGeneration",
  "phase",
  "conditions",
  "message",
  "reason",
  "hostIP",
  "hostIPs",
  "podIP",
  "podIPs",
  "startTime",
  "initContainerStatuses",
  "containerStatuses",
  "ephemeralContainerStatuses",
  "qosClass",
  "resize",
  "allocatedResources",
  "resources",
] satisfies readonly (keyof PodStatus)[]);

/** Other components set it as well: the kubelet writes it only together with the pod's terminal phase. */
const SHARED_CONDITION = "DisruptionTarget";

const conditionsOf = ({ conditions }: PodStatus): readonly PodCondition[] => conditions ?? [];
const conditionOf = (status: PodStatus | undefined, type: string): PodCondition | undefined =>
  findTyped(status?.conditions, type);

/** Returns the status to write. */
export function mergePodStatus(server: PodStatus, own: PodStatus, options: StatusMergeOptions): PodStatus {
  const endsNow = !isTerminalPhase(server.phase) && isTerminalPhase(own.phase);
  const isDelayed = endsNow && options.mayRun;
  const shared = endsNow && !options.mayRun ? conditionOf(own, SHARED_CONDITION) : undefined;
  const others = conditionsOf(server).filter(
    ({ type }) => !OWNED_CONDITIONS.has(type) && (shared === undefined || type !== SHARED_CONDITION),
  );
  const owned = conditionsOf(own).filter(({ type }) => OWNED_CONDITIONS.has(type));
  const { phase: _phase, reason: _reason, message: _message, ...rest } = own;
  const of = isDelayed ? server : own;
  return {
    ...Object.fromEntries(Object.entries(server).filter(([member]) => !OWN_MEMBERS.has(member))),
    ...rest,
    ...(of.phase === undefined ? {} : { phase: of.phase }),
    ...(of.reason === undefined ? {} : { reason: of.reason }),
    ...(of.message === undefined ? {} : { message: of.message }),
    conditions: [
      ...others,
      ...(shared === undefined ? [] : [shared]),
      ...owned.map((condition) => withKnownTime(condition, server, options.first)),
    ],
    ...(server.startTime === undefined ? {} : { startTime: server.startTime }),
  };
}

/** Returns the condition with the server's transition time when it is unchanged since this kubelet started. */
function withKnownTime(own: PodCondition, server: PodStatus, first: PodStatus | undefined): PodCondition {
  const known = conditionOf(server, own.type);
  const before = conditionOf(first, own.type);
  const isUnchanged = before?.status === own.status && before.lastTransitionTime === own.lastTransitionTime;
  const { lastTransitionTime } = known ?? {};
  if (!isUnchanged || known?.status !== own.status || !lastTransitionTime) return own;
  return { ...own, lastTransitionTime };
}

/** Returns whether two statuses agree in the conditions and fields that others than the kubelet write. */
export const sameForeignStatus = (left: PodStatus = {}, right: PodStatus = {}): boolean =>
  left === right || sameValue(foreignPart(left), foreignPart(right));

const foreignPart = (status: PodStatus): unknown => [
  conditionsOf(status).filter(({ type }) => !OWNED_CONDITIONS.has(type)),
  Object.fromEntries(Object.entries(status).filter(([member]) => !OWN_MEMBERS.has(member))),
];

/** Returns whether the server's status equals a merged one; timestamps of conditions do not count. */
export function samePodStatus(server: PodStatus, merged: PodStatus): boolean {
  const wanted = new Set(conditionsOf(merged).map(({ type }) => type));
  const isStale = conditionsOf(server).some(({ type }) => OWNED_CONDITIONS.has(type) && !wanted.has(type));
  if (isStale || !conditionsOf(merged).every((condition) => saysSame(conditionOf(server, condition.type), condition))) {
    return false;
  }
  const { conditions: _theirs, ...left } = server;
  const { conditions: _ours, ...right } = merged;
  return sameMeaning(left, right, false);
}

function saysSame(server: PodCondition | undefined, own: PodCondition): boolean {
  if (server === undefined) return false;
  return (["status", "reason", "message", "observedGeneration"] as const).every((member) =>
    sameMeaning(server[member], own[member], false),
  );
}

/** Maps whose values are quantities, which the server writes in canonical form. */
const QUANTITIES: ReadonlySet<string> = new Set(["allocatedResources", "requests", "limits"]);

/** Values that the server omits from responses: Go's zero values. */
function isEmpty(value: unknown): boolean {
  if (!value) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (!isJsonObject(value)) return false;
  for (const key in value) if (!isEmpty(value[key])) return false;
  return true;
}

/** Allocates nothing: it compares the statuses of ten thousand mounts with each answer of the server. */
function sameMeaning(left: unknown, right: unknown, isQuantity: boolean): boolean {
  if (Object.is(left, right)) return true;
  if (Array.isArray(left) && Array.isArray(right)) return sameItemsInMeaning(left, right, isQuantity);
  if (isJsonObject(left) && isJsonObject(right)) {
    for (const key in left) {
      if (!sameMeaning(left[key], right[key], isQuantity || QUANTITIES.has(key))) return false;
    }
    for (const key in right) if (!Object.hasOwn(left, key) && !isEmpty(right[key])) return false;
    return true;
  }
  return (isEmpty(left) && isEmpty(right)) || (isQuantity && sameQuantity(left, right));
}

function sameItemsInMeaning(left: readonly unknown[], right: readonly unknown[], isQuantity: boolean): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index += 1) {
    if (!sameMeaning(left[index], right[index], isQuantity)) return false;
  }
  return true;
}

function sameQuantity(left: unknown, right: unknown): boolean {
  const [ours, theirs] = [left, right].map((value) =>
    typeof value === "string" || typeof value === "number" ? parseQuantity(value) : undefined,
  );
  return ours !== undefined && theirs !== undefined && compareQuantity(ours, theirs) === 0;
}
