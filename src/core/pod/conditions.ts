/**
 * The pod conditions that the kubelet owns, in upstream's order, after the conditions of other writers. Upstream:
 * pkg/kubelet/status/generate.go and the condition part of generateAPIPodStatus.
 */
import type { RefusedResize } from "../allocation/pendingResizes.ts";
import type { ApiContainerStatus, Pod, PodCondition, PodStatus } from "../api.ts";
import type { EpochMs } from "../ids.ts";
import type { PodRuntimeStatus } from "../runtime/podRuntimeStatus.ts";
import { sameValue } from "../sameValue.ts";
import { formatInstant } from "../time/civilTime.ts";
import { isSidecar, lastingContainers } from "./containers.ts";
import { hasAnyRegularContainerStarted, type PodPhase } from "./phase.ts";
import { isRestartingAllContainers, mayRestartAllContainers } from "./restartAllContainers.ts";
import { sandboxChange } from "./sandboxChange.ts";
import { findNamed, findTyped } from "../findNamed.ts";

export interface ConditionsInput {
  readonly pod: Pod;
  readonly runtime: PodRuntimeStatus;
  readonly phase: PodPhase;
  readonly initStatuses: readonly ApiContainerStatus[];
  readonly regularStatuses: readonly ApiContainerStatus[];
  /** The status last generated; its transition times carry over. */
  readonly previous: PodStatus | undefined;
  /** Transition times from before a restart of the kubelet, for conditions that the previous status lacks. */
  readonly earlier?: readonly Pick<PodCondition, "type" | "status" | "lastTransitionTime">[] | undefined;
  readonly now: EpochMs;
  readonly resize?: ResizeState | undefined;
  /** Whether to include the condition PodReadyToStartContainers. Default true. */
  readonly reportsReadyToStart?: boolean | undefined;
  /** Message of DisruptionTarget, for a pod that the kubelet ends in favour of others. */
  readonly disruption?: string | undefined;
}

/** Resize state of the pod. Conditions exist only for a resize that is pending or in progress. */
export interface ResizeState {
  /** Set when the spec asks for a size that is not granted. */
  readonly refused?: RefusedResize | undefined;
  /** Set when a granted size is not in force yet. */
  readonly inProgress?: { readonly generation: number | undefined; readonly error?: string } | undefined;
}

/** A condition without its times. */
interface Verdict {
  readonly status: "True" | "False";
  readonly reason?: string;
  readonly message?: string;
}

/** A time that the API serializes as null. */
export const NULL_TIME = null as unknown as string;

const ALL_RESTARTING = "AllContainersRestarting";

/** Conditions that only a kubelet writes. Upstream: PodConditionsByKubelet. */
export const OWNED_CONDITIONS: ReadonlySet<string> = new Set([
  "PodReadyToStartContainers",
  "Initialized",
  "Ready",
  "ContainersReady",
  "PodScheduled",
  "PodResizePending",
  "PodResizeInProgress",
  ALL_RESTARTING,
]);
const DISRUPTION_TARGET = "DisruptionTarget";
/** Conditions that the kubelet sets once and then only carries over. */
const CARRIED: ReadonlySet<string> = new Set([DISRUPTION_TARGET]);

const TRUE: Verdict = { status: "True" };

const list = (names: readonly string[]): string => `[${names.join(" ")}]`;

function namesMessage(kinds: readonly (readonly [string, readonly string[]])[]): string {
  return kinds
    .filter(([, names]) => names.length > 0)
    .map(([kind, names]) => `containers with ${kind} status: ${list(names)}`)
    .join(", ");
}

/** ContainersReady: all regular containers and sidecars are ready. */
function containersReady({ pod, phase, initStatuses, regularStatuses }: ConditionsInput): Verdict {
  const names = lastingContainers(pod.spec).map(({ name }) => name);
  const statusOf = (name: string): ApiContainerStatus | undefined =>
    findNamed(initStatuses, name) ?? findNamed(regularStatuses, name);
  const unknown = names.filter((name) => statusOf(name) === undefined);
  const unready = names.filter((name) => statusOf(name)?.ready === false);
  if (phase === "Succeeded" && unknown.length === 0) return { status: "False", reason: "PodCompleted" };
  if (phase === "Failed") return { status: "False", reason: "PodFailed" };
  const message = namesMessage([
    ["unknown", unknown],
    ["unready", unready],
  ]);
  return message === "" ? TRUE : { status: "False", reason: "ContainersNotReady", message };
}

/** Ready: the containers are ready and every readiness gate of the spec is "True". */
function podReady(input: ConditionsInput, others: readonly PodCondition[]): Verdict {
  const containers = containersReady(input);
  if (containers.status !== "True") return containers;
  const messages = (input.pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = findTyped(others, conditionType);
    if (condition === undefined) {
      return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    }
    if (condition.status === "True") return [];
    return [`the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`];
  });
  if (messages.length === 0) return TRUE;
  return { status: "False", reason: "ReadinessGatesNotReady", message: messages.join(", ") };
}

/** Initialized: every init container has completed and every sidecar has started. Stays true once true. */
function initialized({ pod, phase, initStatuses, regularStatuses, previous }: ConditionsInput): Verdict {
  const specs = pod.spec.initContainers ?? [];
  const statusOf = (name: string): ApiContainerStatus | undefined => findNamed(initStatuses, name);
  const unknown = specs.filter(({ name }) => statusOf(name) === undefined);
  const incomplete = specs.filter((spec) => {
    const status = statusOf(spec.name);
    return status !== undefined && (isSidecar(spec) ? status.started !== true : !status.ready);
  });
  if (phase === "Succeeded" && unknown.length === 0) return { status: "True", reason: "PodCompleted" };
  if (hasAnyRegularContainerStarted(pod.spec, regularStatuses)) return TRUE;
  const message = namesMessage([
    ["unknown", unknown.map(({ name }) => name)],
    ["incomplete", incomplete.map(({ name }) => name)],
  ]);
  const wasInitialized = previous?.conditions?.some(({ type, status }) => type === "Initialized" && status === "True");
  if (message === "" || wasInitialized === true) return TRUE;
  return { status: "False", reason: "ContainersNotInitialized", message };
}

/**
 * AllContainersRestarting: a container exit is restarting the whole pod. Reported only for pods whose rules allow it.
 */
function allContainersRestarting({ pod, runtime, phase }: ConditionsInput): Verdict {
  if (phase === "Succeeded") return { status: "False", reason: "PodCompleted" };
  if (phase === "Failed") return { status: "False", reason: "PodFailed" };
  if (!isRestartingAllContainers(pod, runtime)) return { status: "False" };
  const message = "container exited with restart policy rule";
  return { status: "True", reason: "RestartAllContainersStarted", message };
}

function withTimes(type: string, verdict: Verdict, input: ConditionsInput): PodCondition {
  const { pod, previous, now } = input;
  const before = findTyped(previous?.conditions, type) ?? findTyped(input.earlier, type);
  const kept = before?.status === verdict.status ? before.lastTransitionTime : undefined;
  const { generation } = pod.metadata;
  return {
    type,
    // Upstream omits the generation from this condition.
    ...(generation === undefined || type === ALL_RESTARTING ? {} : { observedGeneration: generation }),
    status: verdict.status,
    lastProbeTime: NULL_TIME,
    lastTransitionTime: kept ?? formatInstant(now),
    ...(verdict.reason === undefined ? {} : { reason: verdict.reason }),
    ...(verdict.message === undefined ? {} : { message: verdict.message }),
  };
}

/** Conditions of other writers from the pod object, with those that the kubelet set once and carries over. */
function foreignConditions(input: ConditionsInput): readonly PodCondition[] {
  const { pod, previous, disruption } = input;
  const known = (previous?.conditions ?? []).filter(({ type }) => CARRIED.has(type));
  const verdict: Verdict = {
    status: "True",
    reason: "TerminationByKubelet",
    ...(disruption && { message: disruption }),
  };
  const carried = disruption === undefined ? known : [withTimes(DISRUPTION_TARGET, verdict, input)];
  const ofOthers = (pod.status?.conditions ?? []).filter(
    ({ type }) => !OWNED_CONDITIONS.has(type) && findTyped(carried, type) === undefined,
  );
  return [...ofOthers, ...carried];
}

/**
 * A resize condition. The probe time changes with reason, message or generation; the transition time with the reason.
 */
function resizeCondition(
  type: string,
  said: Pick<PodCondition, "reason" | "message" | "observedGeneration">,
  { previous, now }: ConditionsInput,
): PodCondition {
  const before = findTyped(previous?.conditions, type);
  const { reason, message, observedGeneration } = before ?? {};
  const isSaid = before !== undefined && sameValue({ reason, message, observedGeneration }, said);
  const changedAt = before !== undefined && reason === said.reason ? before.lastTransitionTime : undefined;
  const { observedGeneration: generation, ...why } = said;
  return {
    type,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    status: "True",
    lastProbeTime: (isSaid ? before.lastProbeTime : undefined) ?? formatInstant(now),
    lastTransitionTime: changedAt ?? formatInstant(now),
    ...why,
  };
}

function resizeConditions(input: ConditionsInput): readonly PodCondition[] {
  const { refused, inProgress } = input.resize ?? {};
  const generationOf = ({ generation }: { readonly generation?: number | undefined }) =>
    generation === undefined ? {} : { observedGeneration: generation };
  const conditions: PodCondition[] = [];
  if (refused !== undefined) {
    const { reason, message } = refused;
    conditions.push(resizeCondition("PodResizePending", { reason, message, ...generationOf(refused) }, input));
  }
  if (inProgress !== undefined) {
    const { error } = inProgress;
    const why = error === undefined ? {} : { reason: "Error", message: error };
    conditions.push(resizeCondition("PodResizeInProgress", { ...why, ...generationOf(inProgress) }, input));
  }
  return conditions;
}

/** Returns all conditions of the pod's new status. */
export function podConditions(input: ConditionsInput): readonly PodCondition[] {
  const others = foreignConditions(input);
  const hasSandbox = !sandboxChange(input.pod, input.runtime).changed;
  const verdicts: readonly (readonly [string, Verdict])[] = [
    ...(input.reportsReadyToStart === false
      ? []
      : [["PodReadyToStartContainers", { status: hasSandbox ? "True" : "False" }] as const]),
    ["Initialized", initialized(input)],
    ["Ready", podReady(input, others)],
    ["ContainersReady", containersReady(input)],
    ["PodScheduled", TRUE],
    ...(mayRestartAllContainers(input.pod.spec) ? [[ALL_RESTARTING, allContainersRestarting(input)] as const] : []),
  ];
  return [...others, ...resizeConditions(input), ...verdicts.map(([type, verdict]) => withTimes(type, verdict, input))];
}
