/**
 * The status a pod object gets: ours, with what others wrote to it left alone. Counterpart: mergePodStatus and
 * isPodStatusByKubeletEqual of pkg/kubelet/status/status_manager.go.
 */
import type { PodCondition, PodStatus } from "../api.ts";
import { isMap } from "../config/configProblem.ts";
import { OWNED_CONDITIONS } from "../pod/conditions.ts";
import { isTerminalPhase } from "../pod/phase.ts";
import { compareQuantity, parseQuantity } from "../quantity.ts";

export interface StatusMergeOptions {
  /** Something of the pod may still run: until it does not, the pod is not said to be over. */
  readonly mayRun: boolean;
  /** The first status of the pod that this kubelet told; what has not changed since has the times the server knows. */
  readonly first: PodStatus | undefined;
}

/** What a kubelet writes of a status; the rest is left as the server has it, also what only a newer server knows. */
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

/** Others set it as well: it is written only with the end of the pod. */
const SHARED_CONDITION = "DisruptionTarget";

const conditionsOf = ({ conditions }: PodStatus): readonly PodCondition[] => conditions ?? [];
const conditionOf = (status: PodStatus | undefined, type: string): PodCondition | undefined =>
  status?.conditions?.find((condition) => condition.type === type);

/** What the server's status is to become. */
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

/** A condition that is as it was when this kubelet started has the time of an earlier one's transition. */
function withKnownTime(own: PodCondition, server: PodStatus, first: PodStatus | undefined): PodCondition {
  const known = conditionOf(server, own.type);
  const before = conditionOf(first, own.type);
  const isUnchanged = before?.status === own.status && before.lastTransitionTime === own.lastTransitionTime;
  const { lastTransitionTime } = known ?? {};
  if (!isUnchanged || known?.status !== own.status || !lastTransitionTime) return own;
  return { ...own, lastTransitionTime };
}

/** Whether the server's status says what a merged one says; when something came about does not count. */
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

/** Maps whose values are quantities: the server writes them in its own form. */
const QUANTITIES: ReadonlySet<string> = new Set(["allocatedResources", "requests", "limits"]);

/** What the server leaves out of its answers: Go's zero values. */
const isEmpty = (value: unknown): boolean =>
  !value || (Array.isArray(value) ? value.length === 0 : isMap(value) && Object.values(value).every(isEmpty));

function sameMeaning(left: unknown, right: unknown, isQuantity: boolean): boolean {
  if (Object.is(left, right) || (isEmpty(left) && isEmpty(right))) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => sameMeaning(item, right[index], isQuantity));
  }
  if (isMap(left) && isMap(right)) {
    const members = new Set([...Object.keys(left), ...Object.keys(right)]);
    return [...members].every((key) => sameMeaning(left[key], right[key], isQuantity || QUANTITIES.has(key)));
  }
  return isQuantity && sameQuantity(left, right);
}

function sameQuantity(left: unknown, right: unknown): boolean {
  const [ours, theirs] = [left, right].map((value) =>
    typeof value === "string" || typeof value === "number" ? parseQuantity(value) : undefined,
  );
  return ours !== undefined && theirs !== undefined && compareQuantity(ours, theirs) === 0;
}
