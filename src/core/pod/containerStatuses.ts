/**
 * The container statuses of a pod: what runs, what ran, what waits and why. Upstream:
 * convertToAPIContainerStatuses (kubelet_pods.go) and the prober's UpdatePodStatus.
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
import { messageBytesPerContainer, withLimitedMessages } from "./messageLimit.ts";
import type { ContainerKind, ProbeVerdict } from "./podActionsTypes.ts";
import { withReportedSize } from "./reportedSize.ts";
import { isSidecar, newestContainer, shouldContainerBeRestarted } from "./restartRules.ts";
import { allNamed, findNamed } from "../findNamed.ts";

export interface ContainerStatusesInput {
  readonly pod: Pod;
  /** The pod at the size in force. */
  readonly actual: Pod;
  readonly runtime: PodRuntimeStatus;
  /** Why containers could not be started last time, by container name. */
  readonly failures: ReadonlyMap<string, KubeletError>;
  readonly verdicts: ReadonlyMap<string, ProbeVerdict>;
  readonly context: StatusContext;
  /** True when the pod, as told last, was restarting all its containers. */
  readonly restartingAll: boolean;
  /** Instances that were stopped for their containers to be started again, until that was seen to have happened. */
  readonly startingAgain: ReadonlySet<ContainerId>;
}

const LOST_MESSAGE = "The container could not be located when the pod was deleted.  The container used to be Running";

/** What a container that has not run yet waits for, as far as nothing went wrong. */
const awaited = ({ pod }: ContainerStatusesInput): string =>
  (pod.spec.initContainers ?? []).length > 0 ? "PodInitializing" : "ContainerCreating";

/** Nothing in the runtime: the entry told last says what became of it. */
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
  // It ran when last seen. Shown as having ended, so that the pod does not fall back to Pending.
  const restarts = input.pod.metadata.deletionTimestamp === undefined ? 1 : 0;
  return { ...carried, lastState: lostState(LOST_MESSAGE), restartCount: before.restartCount + restarts };
}

/** A pod whose containers were made has been initialized, whatever the runtime has forgotten. */
const FORGOTTEN_INIT = {
  reason: "Completed",
  message:
    "Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally",
  exitCode: 0,
};

/** Shows an init container that nobody knows any more as ended well, once a regular container was made. */
function withForgottenEnd(
  { pod, runtime, restartingAll }: ContainerStatusesInput,
  spec: Container,
  kind: ContainerKind,
  status: ApiContainerStatus,
): ApiContainerStatus {
  // One removed by a restart of the whole pod is not forgotten: it runs again.
  if (kind !== "init" || isSidecar(spec) || restartingAll || status.state?.waiting === undefined) return status;
  const isMade = (name: string): boolean => {
    const newest = newestContainer(runtime, name);
    return newest !== undefined && newest.state !== "unknown";
  };
  const isForgotten =
    newestContainer(runtime, spec.name) === undefined && pod.spec.containers.some(({ name }) => isMade(name));
  return isForgotten ? { ...status, state: { terminated: FORGOTTEN_INIT } } : status;
}

/** The last end as it was told: all there is of it once the instance was removed, as for a restart of the whole pod. */
function lastStateTold(before: ApiContainerStatus | undefined, { containerID }: ApiContainerStatus): ContainerState {
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
  const { initContainers, containers } = input.actual.spec;
  const sized =
    newest.state === "running" ? (findNamed(initContainers, spec.name) ?? findNamed(containers, spec.name)) : undefined;
  const actual = sized && withReportedSize(sized, newest.resources);
  const present = presentStatus(spec, newest, before, input.context, actual);
  // A look may miss the newest instance when one was made, and an older one removed, between its two questions.
  const restartCount = Math.max(present.restartCount, before?.restartCount ?? 0);
  // Between being made and being started. Upstream, whose statuses are of before a sync, hardly ever tells of that.
  const waiting = newest.state === "created" ? { state: { waiting: { reason: awaited(input) } } } : {};
  const status = { ...present, ...waiting, restartCount, lastState: lastStateTold(before, present) };
  // One that never ran has no end to tell of.
  const older = allNamed(input.runtime.containers, spec.name).find(
    (each) => each !== newest && each.state !== "created",
  );
  if (older === undefined) return status;
  const lastState = presentStatus(spec, older, before, input.context).state ?? {};
  return { ...status, lastState };
}

/**
 * Shows a container that is being started again although its end would be final as waiting: from an end that is final
 * the API server lets no container come back. Upstream never tells of that end: it takes its statuses before a sync.
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

/** Shows a container that should run, but could not be started, as waiting for the reason of that failure. */
function withFailure(
  input: ContainerStatusesInput,
  spec: Container,
  kind: ContainerKind,
  status: ApiContainerStatus,
): ApiContainerStatus {
  const { pod, runtime, failures } = input;
  const newest = newestContainer(runtime, spec.name);
  const isDone = kind === "init" && !isSidecar(spec) && newest?.state === "exited" && newest.exitCode === 0;
  const failure = failures.get(spec.name);
  if (isDone || failure === undefined || !shouldContainerBeRestarted(spec, pod, runtime)) return status;
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
  // A declared probe that has not spoken yet counts as not passed.
  const started = verdict?.started ?? spec.startupProbe === undefined;
  return { started, ready: started && (verdict?.ready ?? spec.readinessProbe === undefined) };
}

/**
 * Entries for `specs`, in their order, given those told before. Ephemeral containers have no readiness.
 * Differs from upstream: regular containers keep the order of the spec, which upstream sorts by name.
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
