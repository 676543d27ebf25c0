/**
 * The conditions of a pod that the kubelet owns, in its order, after those of others. Upstream:
 * pkg/kubelet/status/generate.go and the condition part of generateAPIPodStatus.
 */
import type { RefusedResize } from "../allocation/pendingResizes.ts";
import type { ApiContainerStatus, Pod, PodCondition, PodStatus } from "../api.ts";
import type { EpochMs } from "../ids.ts";
import type { PodRuntimeStatus } from "../runtime/podRuntimeStatus.ts";
import { sameValue } from "../sameValue.ts";
import { formatInstant } from "../telemetry/civilTime.ts";
import { hasAnyRegularContainerStarted, type PodPhase } from "./phase.ts";
import { isRestartingAllContainers, mayRestartAllContainers } from "./restartAllContainers.ts";
import { isSidecar } from "./restartRules.ts";
import { sandboxChange } from "./sandboxChange.ts";
import { findNamed, findTyped } from "../findNamed.ts";

export interface ConditionsInput {
  readonly pod: Pod;
  readonly runtime: PodRuntimeStatus;
  readonly phase: PodPhase;
  readonly initStatuses: readonly ApiContainerStatus[];
  readonly regularStatuses: readonly ApiContainerStatus[];
  /** Status told before, whose transition times live on. */
  readonly previous: PodStatus | undefined;
  readonly now: EpochMs;
  readonly resize?: ResizeState | undefined;
  /** False: the condition PodReadyToStartContainers is not told. Default true. */
  readonly tellsReadyToStart?: boolean | undefined;
}

/** How the size of the pod stands: conditions are told only of what is pending or under way. */
export interface ResizeState {
  /** The spec asks for a size that is not granted. */
  readonly refused?: RefusedResize | undefined;
  /** A granted size is not in force yet. */
  readonly inProgress?: { readonly generation: number | undefined; readonly error?: string } | undefined;
}

/** A condition before its times. */
interface Verdict {
  readonly status: "True" | "False";
  readonly reason?: string;
  readonly message?: string;
}

/** A time the API prints as null. */
export const NULL_TIME = null as unknown as string;

const ALL_RESTARTING = "AllContainersRestarting";

/** Conditions that a kubelet alone writes; PodConditionsByKubelet upstream. */
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
/** Set by the kubelet once and then only carried along. */
const CARRIED: ReadonlySet<string> = new Set(["DisruptionTarget"]);

const TRUE: Verdict = { status: "True" };

const list = (names: readonly string[]): string => `[${names.join(" ")}]`;

function namesMessage(kinds: readonly (readonly [string, readonly string[]])[]): string {
  return kinds
    .filter(([, names]) => names.length > 0)
    .map(([kind, names]) => `containers with ${kind} status: ${list(names)}`)
    .join(", ");
}

/** All containers that count for readiness are ready: regular ones and sidecars. */
function containersReady({ pod, phase, initStatuses, regularStatuses }: ConditionsInput): Verdict {
  const names = [...(pod.spec.initContainers ?? []).filter(isSidecar), ...pod.spec.containers].map(({ name }) => name);
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

/** Containers ready, and every readiness gate of the spec open. */
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

/** Every init container has done its work, or every sidecar has started; once true it stays true. */
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

/** Whether a container's end is restarting the whole pod; told only of pods that may come to that. */
function allContainersRestarting({ pod, runtime, phase }: ConditionsInput): Verdict {
  if (phase === "Succeeded") return { status: "False", reason: "PodCompleted" };
  if (phase === "Failed") return { status: "False", reason: "PodFailed" };
  if (!isRestartingAllContainers(pod, runtime)) return { status: "False" };
  const message = "container exited with restart policy rule";
  return { status: "True", reason: "RestartAllContainersStarted", message };
}

function withTimes(type: string, verdict: Verdict, input: ConditionsInput): PodCondition {
  const { pod, previous, now } = input;
  const before = findTyped(previous?.conditions, type);
  const kept = before?.status === verdict.status ? before.lastTransitionTime : undefined;
  const { generation } = pod.metadata;
  return {
    type,
    // Upstream leaves it out of this one.
    ...(generation === undefined || type === ALL_RESTARTING ? {} : { observedGeneration: generation }),
    status: verdict.status,
    lastProbeTime: NULL_TIME,
    lastTransitionTime: kept ?? formatInstant(now),
    ...(verdict.reason === undefined ? {} : { reason: verdict.reason }),
    ...(verdict.message === undefined ? {} : { message: verdict.message }),
  };
}

/** Conditions of others as the pod object has them, with those the kubelet once set and only carries. */
function foreignConditions({ pod, previous }: ConditionsInput): readonly PodCondition[] {
  const carried = (previous?.conditions ?? []).filter(({ type }) => CARRIED.has(type));
  const ofOthers = (pod.status?.conditions ?? []).filter(
    ({ type }) => !OWNED_CONDITIONS.has(type) && findTyped(carried, type) === undefined,
  );
  return [...ofOthers, ...carried];
}

/** A condition about a resize; probed and changed when it was last said in other words. */
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

/** All conditions of the pod's new status. */
export function podConditions(input: ConditionsInput): readonly PodCondition[] {
  const others = foreignConditions(input);
  const hasSandbox = !sandboxChange(input.pod, input.runtime).changed;
  const verdicts: readonly (readonly [string, Verdict])[] = [
    ...(input.tellsReadyToStart === false
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
