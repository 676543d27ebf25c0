/**
 * Translates the runtime's responses about one pod to a PodRuntimeStatus. Carries over from the previous status what
 * cannot change any more (exited containers, stopped sandboxes), with the instant when the exit was first observed.
 * Upstream: GetPodStatus and toKubeContainerStatus of kuberuntime.
 */
import {
  type Container,
  type ContainerStatus,
  NamespaceMode,
  type PodSandbox,
  type PodSandboxStatus,
  PodSandboxState,
} from "../../gen/cri.ts";
import { containerId, type EpochMs, epochMs, type MonotonicMs, monotonicMs, type PodUid, sandboxId } from "../ids.ts";
import { isContainerLog, isTerminationLog } from "../paths.ts";
import { stopSignalName } from "../container/stopSignal.ts";
import { isPathSegment } from "../pathSegment.ts";
import { containerStateOf, newestFirst } from "./criOrder.ts";
import type {
  PodRuntimeStatus,
  RuntimeContainer,
  RuntimeResources,
  RuntimeSandbox,
  RuntimeUser,
} from "./podRuntimeStatus.ts";
import { findIdentified } from "../findNamed.ts";

/** A listed sandbox and its status; undefined when it was not requested. */
export interface SandboxAnswer {
  readonly listed: PodSandbox;
  readonly status: PodSandboxStatus | undefined;
}

/** A listed container and its status; undefined when it was not requested. */
export interface ContainerAnswer {
  readonly listed: Container;
  readonly status: ContainerStatus | undefined;
}

/** All responses of one inspection. */
export interface PodAnswers {
  readonly podUid: PodUid;
  readonly sandboxes: readonly SandboxAnswer[];
  readonly containers: readonly ContainerAnswer[];
  readonly previous: PodRuntimeStatus | undefined;
  /** Assigned when the inspection began. */
  readonly sequence: number;
  readonly now: MonotonicMs;
  readonly wall: EpochMs;
}

const POD_NAME = "io.kubernetes.pod.name";
const POD_NAMESPACE = "io.kubernetes.pod.namespace";
const CONTAINER_NAME = "io.kubernetes.container.name";
const RESTART_COUNT = "io.kubernetes.container.restartCount";
const SPEC_HASH = "io.kubernetes.container.hash";
const TERMINATION_MESSAGE_PATH = "io.kubernetes.container.terminationMessagePath";

const previousSandbox = (previous: PodRuntimeStatus | undefined, id: string): RuntimeSandbox | undefined =>
  findIdentified(previous?.sandboxes, id);

const previousContainer = (previous: PodRuntimeStatus | undefined, id: string): RuntimeContainer | undefined =>
  findIdentified(previous?.containers, id);

/**
 * Whether to request the sandbox's status. Not needed when a known sandbox has stopped, or is as ready as before and has
 * its addresses, which never change. Upstream requests it each time.
 */
export function needsSandboxStatus(listed: PodSandbox, previous: PodRuntimeStatus | undefined): boolean {
  const known = previousSandbox(previous, listed.id);
  if (known === undefined) return true;
  if (listed.state !== PodSandboxState.SANDBOX_READY) return false;
  return !known.ready || (known.ips.length === 0 && !known.hostNetwork);
}

/**
 * Whether to request the container's status. Not needed when it is known to have exited, after which it never changes.
 */
export const needsContainerStatus = (listed: Container, previous: PodRuntimeStatus | undefined): boolean =>
  containerStateOf(listed.state) !== "exited" || previousContainer(previous, listed.id)?.state !== "exited";

const toEpochMs = (nanos: bigint): EpochMs => epochMs(Number(nanos / 1_000_000n));
const toInstant = (nanos: bigint): EpochMs | undefined => (nanos > 0n ? toEpochMs(nanos) : undefined);

function addressesOf(status: PodSandboxStatus): readonly string[] {
  const { network } = status;
  if (network === undefined || network.ip === "") return [];
  return [network.ip, ...network.additionalIps.map(({ ip }) => ip)].filter((ip) => ip !== "");
}

function toSandbox({ listed, status }: SandboxAnswer, previous: RuntimeSandbox | undefined): RuntimeSandbox {
  if (status === undefined && previous !== undefined) {
    const hasStopped = previous.ready && listed.state !== PodSandboxState.SANDBOX_READY;
    // Another pod may get the addresses of a sandbox that has stopped.
    return hasStopped ? { ...previous, ready: false, ips: [] } : previous;
  }
  const source = status ?? listed;
  const hostNetwork = status?.linux?.namespaces?.options?.network === NamespaceMode.NODE;
  return {
    id: sandboxId(source.id),
    attempt: source.metadata?.attempt ?? 0,
    ready: source.state === PodSandboxState.SANDBOX_READY,
    createdAt: toEpochMs(source.createdAt),
    ips: status === undefined || hostNetwork ? [] : addressesOf(status),
    hostNetwork,
    ...(status?.network === undefined ? { networkUnknown: true } : {}),
    labels: source.labels,
    annotations: source.annotations,
  };
}

function toUser(status: ContainerStatus | undefined): RuntimeUser | undefined {
  const user = status?.user?.linux;
  if (user === undefined) return undefined;
  return { uid: Number(user.uid), gid: Number(user.gid), supplementalGroups: user.supplementalGroups.map(Number) };
}

function toResources(status: ContainerStatus | undefined): RuntimeResources | undefined {
  const linux = status?.resources?.linux;
  if (linux === undefined) return undefined;
  return {
    cpuShares: linux.cpuShares,
    cpuQuotaUs: linux.cpuQuota,
    cpuPeriodUs: linux.cpuPeriod,
    memoryLimitBytes: linux.memoryLimitInBytes,
  };
}

function restartCountOf(annotations: Readonly<Record<string, string>>, attempt: number): number {
  const text = annotations[RESTART_COUNT];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : attempt;
}

/** Converts an exit time to the monotonic clock, by its age on the wall clock; never in the future. */
function exitInstant(finishedAt: EpochMs | undefined, now: MonotonicMs, wall: EpochMs): MonotonicMs {
  return monotonicMs(now - (finishedAt === undefined ? 0 : Math.max(0, wall - finishedAt)));
}

/**
 * Returns the kubelet's own file at the termination message path. A volume mounted at the same path may contain
 * anything, even a special file, that the pod provides. Differs from upstream, which reads the first mount at that
 * path.
 */
function terminationMessageFileOf(status: ContainerStatus | undefined, podUid: PodUid): string | undefined {
  const path = status?.annotations[TERMINATION_MESSAGE_PATH];
  const name = status?.labels[CONTAINER_NAME];
  if (path === undefined || name === undefined) return undefined;
  return status?.mounts.findLast(
    ({ containerPath, hostPath }) => containerPath === path && isTerminationLog(hostPath, podUid, name),
  )?.hostPath;
}

/**
 * Returns the log of this container in its own pod's log directory, "" for any other path: logs are rotated, removed and
 * served. Differs from upstream, which uses any path that the runtime reports.
 */
function logPathOf(status: ContainerStatus | undefined, uid: PodUid): string {
  if (status === undefined) return "";
  const { labels, logPath } = status;
  const pod = { namespace: labels[POD_NAMESPACE] ?? "", name: labels[POD_NAME] ?? "", uid };
  return isContainerLog(logPath, pod, labels[CONTAINER_NAME] ?? "") ? logPath : "";
}

function imageOf({ listed, status }: ContainerAnswer): string {
  const spec = status?.image ?? listed.image;
  return spec === undefined || spec.userSpecifiedImage === "" ? (spec?.image ?? "") : spec.userSpecifiedImage;
}

function toContainer(answer: ContainerAnswer, answers: PodAnswers): RuntimeContainer {
  const { listed, status } = answer;
  const previous = previousContainer(answers.previous, listed.id);
  if (status === undefined && previous !== undefined) return previous;
  const { metadata, labels, annotations, imageRef, imageId, state: criState } = status ?? listed;
  const state = containerStateOf(criState);
  const finishedAt = status === undefined ? undefined : toInstant(status.finishedAt);
  const user = toUser(status);
  const stopSignal = status === undefined ? undefined : stopSignalName(status.stopSignal);
  const resources = toResources(status);
  return {
    id: containerId(listed.id),
    name: labels[CONTAINER_NAME] ?? metadata?.name ?? "",
    sandboxId: sandboxId(listed.podSandboxId),
    restartCount: restartCountOf(annotations, metadata?.attempt ?? 0),
    state,
    createdAt: toEpochMs(status?.createdAt ?? listed.createdAt),
    startedAt: status === undefined ? undefined : toInstant(status.startedAt),
    finishedAt,
    exitedAt:
      state === "exited" ? (previous?.exitedAt ?? exitInstant(finishedAt, answers.now, answers.wall)) : undefined,
    exitCode: status?.exitCode ?? 0,
    reason: status?.reason ?? "",
    message: status?.message ?? "",
    image: imageOf(answer),
    imageRef,
    imageId: imageId === "" ? imageRef : imageId,
    specHash: annotations[SPEC_HASH] ?? "",
    logPath: logPathOf(status, answers.podUid),
    terminationMessageFile: terminationMessageFileOf(status, answers.podUid),
    ...(stopSignal === undefined ? {} : { stopSignal }),
    ...(user === undefined ? {} : { user }),
    ...(resources === undefined ? {} : { resources }),
    annotations,
  };
}

const byAge = (a: RuntimeContainer, b: RuntimeContainer): number =>
  newestFirst({ createdAt: a.createdAt, attempt: a.restartCount }, { createdAt: b.createdAt, attempt: b.restartCount });

/** Returns the pod's status after one inspection, with sandboxes and containers newest first. */
export function translatePodStatus(answers: PodAnswers): PodRuntimeStatus {
  const { podUid, previous, sequence } = answers;
  // Omit containers whose name is not a valid directory name.
  const containers = answers.containers.map((answer) => toContainer(answer, answers));
  const labels = answers.sandboxes[0]?.listed.labels ?? answers.containers[0]?.listed.labels;
  return {
    podUid,
    name: labels?.[POD_NAME] ?? previous?.name ?? "",
    namespace: labels?.[POD_NAMESPACE] ?? previous?.namespace ?? "",
    sandboxes: answers.sandboxes
      .map((answer) => toSandbox(answer, previousSandbox(previous, answer.listed.id)))
      .sort(newestFirst),
    containers: containers.filter(({ name }) => name === "" || isPathSegment(name)).sort(byAge),
    sequence,
  };
}
