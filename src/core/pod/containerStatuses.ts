/**
 * Builds the container statuses of a pod from its spec, runtime status, start failures and probe verdicts. Upstream:
 * convertToAPIContainerStatuses (pkg/kubelet/kubelet_pods.go) and the prober's UpdatePodStatus.
 */
import type { ApiContainerStatus, Container, Pod } from "../api.ts";
import type { KubeletError } from "../errors.ts";
import { type ContainerId, containerId } from "../ids.ts";
import type { PodRuntimeStatus } from "../runtime/podRuntimeStatus.ts";
import {
  absentStatus,
  type ContainerState,
  lostState,
  presentStatus,
  removedForRestart,
  type StatusContext,
  withReadiness,
} from "./apiContainerStatus.ts";
import { findContainer, isSidecar } from "./containers.ts";
import { messageBytesPerContainer, withLimitedMessages } from "./messageLimit.ts";
import type { ContainerKind, ProbeVerdict } from "./podActionsTypes.ts";
import { withReportedSize } from "./reportedSize.ts";
import { newestContainer, shouldContainerBeRestarted } from "./restartRules.ts";
import { allNamed, findNamed } from "../findNamed.ts";

export interface ContainerStatusesInput {
  readonly pod: Pod;
  /** The pod with the resources in force. */
  readonly actual: Pod;
  readonly runtime: PodRuntimeStatus;
  /** The last start failure of each container, by container name. */
  readonly failures: ReadonlyMap<string, KubeletError>;
  readonly verdicts: ReadonlyMap<string, ProbeVerdict>;
  readonly context: StatusContext;
  /** Whether the status last generated said that all containers are restarting. */
  readonly restartingAll: boolean;
  /** Instances stopped in order to restart their containers, until the restart is observed. */
  readonly startingAgain: ReadonlySet<ContainerId>;
  /** Whether the containers are stopped for good. */
  readonly terminal: boolean;
}

const LOST_MESSAGE = "The container could not be located when the pod was deleted.  The container used to be Running";

/** The waiting reason of a container that has not run and has not failed. */
const awaited = ({ pod }: ContainerStatusesInput): string =>
  (pod.spec.initContainers ?? []).length > 0 ? "PodInitializing" : "ContainerCreating";

/** Without an instance in the runtime, derive the entry from the one last generated. */
function statusWithoutInstance(
  input: ContainerStatusesInput,
  spec: Container,
  before: ApiContainerStatus | undefined,
): ApiContainerStatus {
  const absent = absentStatus(spec, awaited(input), input.context);
  if (before === undefined) return absent;
  if (input.restartingAll && before.state?.waiting === undefined) {
    return { ...absent, ...removedForRestart, restartCount: before.restartCount + 1 };
  }
  if (before.state?.terminated !== undefined) return before;
  const carried = { ...absent, restartCount: before.restartCount, lastState: before.lastState ?? {} };
  if (before.state?.running === undefined || carried.lastState.terminated !== undefined) return carried;
  // The container ran when last observed. Report it as terminated, so the pod does not fall back to Pending.
  const restarts = input.pod.metadata.deletionTimestamp === undefined ? 1 : 0;
  return { ...carried, lastState: lostState(LOST_MESSAGE), restartCount: before.restartCount + restarts };
}

/**
 * Termination of an init container that the runtime no longer has. The pod is initialized once its regular containers
 * exist.
 */
const FORGOTTEN_INIT = {
  reason: "Completed",
  message:
    "Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally",
  exitCode: 0,
};

/** Reports an init container that the runtime no longer has as completed, once a regular container was created. */
function withForgottenEnd(
  { pod, runtime, restartingAll }: ContainerStatusesInput,
  spec: Container,
  kind: ContainerKind,
  status: ApiContainerStatus,
): ApiContainerStatus {
  // RestartAllContainers removed it, so it runs again.
  if (kind !== "init" || isSidecar(spec) || restartingAll || status.state?.waiting === undefined) return status;
  const isMade = (name: string): boolean => {
    const newest = newestContainer(runtime, name);
    return newest !== undefined && newest.state !== "unknown";
  };
  const isForgotten =
    newestContainer(runtime, spec.name) === undefined && pod.spec.containers.some(({ name }) => isMade(name));
  return isForgotten ? { ...status, state: { terminated: FORGOTTEN_INIT } } : status;
}

/**
 * The last termination as reported before: the only record of it once the instance is removed, as by
 * RestartAllContainers.
 */
function lastStateReported(
  before: ApiContainerStatus | undefined,
  { containerID }: ApiContainerStatus,
): ContainerState {
  const { terminated } = before?.state ?? {};
  return terminated !== undefined && before?.containerID !== containerID ? { terminated } : (before?.lastState ?? {});
}

function statusFromInstances(
  input: ContainerStatusesInput,
  spec: Container,
  before: ApiContainerStatus | undefined,
): ApiContainerStatus {
  const newest = newestContainer(input.runtime, spec.name);
  if (newest === undefined) return statusWithoutInstance(input, spec, before);
  // The last instance of a stopped pod was removed before an earlier one: how the container ended does not change.
  const isEarlier = before?.state?.terminated !== undefined && newest.restartCount < before.restartCount;
  if (input.terminal && isEarlier) return before;
  const sized = newest.state === "running" ? findContainer(input.actual.spec, spec.name) : undefined;
  const actual = sized && withReportedSize(sized, newest.resources);
  const present = presentStatus(spec, newest, before, input.context, actual);
  // An inspection may miss the newest instance if, between its two calls, one was created and an older one removed.
  const restartCount = Math.max(present.restartCount, before?.restartCount ?? 0);
  // Created but not started. Upstream hardly ever reports this state, because it generates statuses before a sync.
  const waiting = newest.state === "created" ? { state: { waiting: { reason: awaited(input) } } } : {};
  const status = { ...present, ...waiting, restartCount, lastState: lastStateReported(before, present) };
  // An instance that never ran has no termination to report.
  const older = allNamed(input.runtime.containers, spec.name).find(
    (each) => each !== newest && each.state !== "created",
  );
  if (older === undefined) return status;
  const lastState = presentStatus(spec, older, before, input.context).state ?? {};
  return { ...status, lastState };
}

/**
 * Reports a container that is being restarted as waiting although its termination would be final: the API server
 * rejects a status that leaves a final termination. Upstream never reports that termination, because it generates
 * statuses before a sync.
 */
function withStartAgain(
  { pod, runtime, startingAgain }: ContainerStatusesInput,
  spec: Container,
  status: ApiContainerStatus,
): ApiContainerStatus {
  const isEnd = status.state?.terminated !== undefined && !shouldContainerBeRestarted(spec, pod, runtime);
  const instance = newestContainer(runtime, spec.name)?.id;
  if (!isEnd || instance === undefined || !startingAgain.has(instance)) return status;
  return { ...status, lastState: status.state ?? {}, state: { waiting: { reason: "ContainerCreating" } } };
}

/**
 * Reports a container that should run but could not be started as waiting, with the reason of the failure. Differs from
 * upstream: a failure before the end of a stopped pod does not replace that end when the container is removed.
 */
function withFailure(
  input: ContainerStatusesInput,
  spec: Container,
  kind: ContainerKind,
  status: ApiContainerStatus,
): ApiContainerStatus {
  const { pod, runtime, failures } = input;
  const newest = newestContainer(runtime, spec.name);
  const isDone = kind === "init" && !isSidecar(spec) && newest?.state === "exited" && newest.exitCode === 0;
  const isOver = input.terminal && newest === undefined && status.state?.terminated !== undefined;
  const failure = failures.get(spec.name);
  if (isOver || isDone || failure === undefined || !shouldContainerBeRestarted(spec, pod, runtime)) return status;
  const { reason, message } = failure;
  return {
    ...status,
    ...(status.state?.terminated === undefined ? {} : { lastState: status.state }),
    state: { waiting: { reason, ...(message === "" ? {} : { message }) } },
  };
}

function readinessOf(
  input: ContainerStatusesInput,
  spec: Container,
  kind: ContainerKind,
  status: ApiContainerStatus,
): { readonly started: boolean; readonly ready: boolean } {
  const { running, terminated } = status.state ?? {};
  if (kind === "init" && !isSidecar(spec)) return { started: running !== undefined, ready: terminated?.exitCode === 0 };
  if (running === undefined) return { started: false, ready: false };
  const found = input.verdicts.get(spec.name);
  const id = containerId(status.containerID?.split("://")[1] ?? "");
  const verdict = found?.containerId === undefined || found.containerId === id ? found : undefined;
  // A declared probe without a result yet counts as not passed.
  const started = verdict?.started ?? spec.startupProbe === undefined;
  return { started, ready: started && (verdict?.ready ?? spec.readinessProbe === undefined) };
}

/**
 * Returns the entries for `specs`, in their order, given the previous entries. Ephemeral containers have no readiness.
 * Differs from upstream: regular containers keep the order of the spec; upstream sorts them by name.
 */
export function containerStatuses(
  input: ContainerStatusesInput,
  specs: readonly Container[],
  kind: ContainerKind,
  previous: readonly ApiContainerStatus[],
): readonly ApiContainerStatus[] {
  const maxMessageBytes = messageBytesPerContainer(input.pod.spec);
  return specs.map((spec) => {
    const before = findNamed(previous, spec.name);
    const found = withForgottenEnd(input, spec, kind, statusFromInstances(input, spec, before));
    const known = withLimitedMessages(found, maxMessageBytes);
    const status = withFailure(input, spec, kind, withStartAgain(input, spec, known));
    return kind === "ephemeral" ? status : withReadiness(status, readinessOf(input, spec, kind, status));
  });
}
