/**
 * Builds a pod's API status from its spec, runtime status, start failures and probe verdicts, on top of the previous
 * status. After a restart of the kubelet there is no previous status and the runtime is the only input. Upstream:
 * generateAPIPodStatus (pkg/kubelet/kubelet_pods.go) and updateStatusInternal of the status manager.
 */
import type { ApiContainerStatus, Container, Pod, PodStatus } from "../api.ts";
import type { KubeletError } from "../errors.ts";
import type { ContainerId, EpochMs } from "../ids.ts";
import type { PodRuntimeStatus } from "../runtime/podRuntimeStatus.ts";
import { formatInstant } from "../time/civilTime.ts";
import { podConditions, type ResizeState } from "./conditions.ts";
import { containerStatuses, type ContainerStatusesInput } from "./containerStatuses.ts";
import { isStaticPod } from "./criticalPod.ts";
import { hasRegularContainerInSandbox, isTerminalPhase, type PodPhase, podPhase } from "./phase.ts";
import type { ContainerKind, ProbeVerdict } from "./podActionsTypes.ts";
import { podAddresses } from "./podAddresses.ts";
import type { StatusTimes } from "./statusTimes.ts";
import { podStatusResources } from "./statusResources.ts";
import { podQosClass } from "./qos.ts";

/** A kubelet decision that takes precedence over the container statuses: eviction, preemption, deadline. */
export interface StatusOverride {
  /** Absent: keep the phase that the containers imply. */
  readonly phase?: PodPhase;
  /**
   * Whether the phase stays when the containers have stopped. Otherwise they decide then: a pod whose containers all
   * exit with 0 has succeeded, without reason and message.
   */
  readonly outlastsContainers?: true;
  readonly reason: string;
  readonly message: string;
  /** Message of the condition DisruptionTarget; absent when the pod gets none. */
  readonly disruption?: string;
}

export interface PodStatusInput {
  readonly pod: Pod;
  readonly runtime: PodRuntimeStatus;
  /** Start failures by container name. */
  readonly failures: ReadonlyMap<string, KubeletError>;
  readonly verdicts: ReadonlyMap<string, ProbeVerdict>;
  /** The status last generated; undefined after a restart of the kubelet. */
  readonly previous: PodStatus | undefined;
  /** Times from before a restart of the kubelet; default none. */
  readonly earlier?: StatusTimes | undefined;
  readonly now: EpochMs;
  readonly node: {
    /** Primary first, at most two. */
    readonly hostIPs: readonly string[];
    /** Prefix of container IDs; default `containerd`. */
    readonly runtimeName?: string;
    /** Whether the runtime supports recursive read-only mounts; default false. */
    readonly recursiveReadOnly?: boolean;
  };
  /** Whether no container will start again: the pod is terminating and its containers are stopped. */
  readonly terminal?: boolean;
  readonly override?: StatusOverride | undefined;
  readonly resize?: ResizeState;
  /** The pod with the resources in force; defaults to the granted size. */
  readonly actual?: Pod;
  /** Whether to report pod-level resources; false when they cannot be resized. Default true. */
  readonly reportsPodResources?: boolean;
  /** Whether to include the condition PodReadyToStartContainers. Default true. */
  readonly reportsReadyToStart?: boolean;
  /** Instances stopped in order to restart their containers; default none. */
  readonly startingAgain?: ReadonlySet<ContainerId>;
}

const DEFAULT_RUNTIME_NAME = "containerd";
const NONE: ReadonlySet<ContainerId> = new Set();

function statusesOf(
  input: PodStatusInput,
  before: PodStatus | undefined,
): Readonly<Record<ContainerKind, readonly ApiContainerStatus[]>> {
  const { pod, runtime, failures, verdicts, node } = input;
  const context = {
    runtimeName: node.runtimeName ?? DEFAULT_RUNTIME_NAME,
    recursiveReadOnly: node.recursiveReadOnly ?? false,
  };
  const restartingAll = (before?.conditions ?? []).some(
    ({ type, status }) => type === "AllContainersRestarting" && status === "True",
  );
  const actual = input.actual ?? pod;
  const { startingAgain = NONE, terminal = false } = input;
  const shared: ContainerStatusesInput = {
    pod,
    actual,
    runtime,
    failures,
    verdicts,
    context,
    restartingAll,
    startingAgain,
    // A pod that ended in an earlier kubelet process has stopped for good as well.
    terminal: terminal || isTerminalPhase(before?.phase),
  };
  const { initContainers = [], containers, ephemeralContainers = [] } = pod.spec;
  // An ephemeral container has all fields of a container that are used here.
  const ephemerals: readonly Container[] = ephemeralContainers;
  return {
    init: containerStatuses(shared, initContainers, "init", before?.initContainerStatuses ?? []),
    regular: containerStatuses(shared, containers, "regular", before?.containerStatuses ?? []),
    ephemeral: containerStatuses(shared, ephemerals, "ephemeral", before?.ephemeralContainerStatuses ?? []),
  };
}

/** Keeps a terminal phase, from the API object or the previous status. */
function finalPhase({ pod, previous, override, terminal }: PodStatusInput, computed: PodPhase): PodPhase {
  const reported = [pod.status?.phase, previous?.phase].find(isTerminalPhase);
  const isDecidedByContainers = override !== undefined && override.outlastsContainers !== true && terminal === true;
  if (isDecidedByContainers && isTerminalPhase(computed) && !isTerminalPhase(pod.status?.phase)) return computed;
  return reported ?? override?.phase ?? computed;
}

type Explanation = Pick<PodStatus, "message" | "reason">;

/** Returns reason and message, which stay as long as the phase does. */
function explanationOf({ pod, previous, override }: PodStatusInput, phase: PodPhase): Explanation {
  const reported = [previous, pod.status].find((status) => status?.phase === phase);
  const decision = override?.phase === undefined || override.phase === phase ? override : undefined;
  const { reason, message } = (isTerminalPhase(reported?.phase) ? reported : (decision ?? reported)) ?? {};
  return {
    ...(message === undefined || message === "" ? {} : { message }),
    ...(reason === undefined || reason === "" ? {} : { reason }),
  };
}

/** Returns when the kubelet first saw the pod. Without its times, the oldest sandbox provides it after a restart. */
function startTimeOf({ pod, runtime, previous, earlier, now }: PodStatusInput): string {
  const known = previous?.startTime ?? pod.status?.startTime ?? earlier?.startTime;
  if (known !== undefined) return known;
  const oldest = runtime.sandboxes.at(-1)?.createdAt;
  return formatInstant(oldest === undefined || oldest > now ? now : oldest);
}

/** Returns the pod status at `now`. Pure: equal inputs give equal statuses, including key order. */
export function generatePodStatus(input: PodStatusInput): PodStatus {
  const { pod, runtime, now, node } = input;
  const before = input.previous ?? pod.status;
  const { init, regular, ephemeral } = statusesOf(input, before);
  const terminal = input.terminal ?? false;
  const initialized = hasRegularContainerInSandbox(pod.spec, runtime);
  const counted = podPhase({ pod, initStatuses: init, regularStatuses: regular, terminal, initialized });
  const phase = finalPhase(input, counted);
  const conditions = podConditions({
    pod,
    runtime,
    phase,
    initStatuses: init,
    regularStatuses: regular,
    previous: before,
    earlier: input.earlier?.conditions,
    now,
    resize: input.resize,
    reportsReadyToStart: input.reportsReadyToStart,
    disruption: input.override?.disruption,
  });
  const { generation } = pod.metadata;
  // The object of a static pod is never updated with its status.
  const isKnownToRun = before?.phase === "Running" && !isStaticPod(pod);
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    phase,
    conditions,
    ...explanationOf(input, phase),
    ...podAddresses(pod, runtime, before, node.hostIPs),
    startTime: startTimeOf(input),
    ...(init.length === 0 ? {} : { initContainerStatuses: init }),
    containerStatuses: regular,
    qosClass: podQosClass(pod),
    ...(ephemeral.length === 0 ? {} : { ephemeralContainerStatuses: ephemeral }),
    ...(input.reportsPodResources === false ? {} : podStatusResources(pod, input.actual ?? pod, isKnownToRun)),
  };
}
