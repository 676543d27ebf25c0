/** Containers of Docker as messages of CRI. Pure. */
import { Container, ContainerState, ContainerStatus, MountPropagation } from "../../gen/cri.ts";
import type { ContainerDetails, ContainerSummary } from "../engine/answers.ts";
import { shortened } from "../engine/engineFault.ts";
import { containerMetadata, LABEL, splitLabels } from "./names.ts";
import { resourcesOf } from "./resourceLimits.ts";
import { criSignal } from "./signals.ts";

/** Constant facts about a container and its image, which lists do not tell. */
export interface ContainerFacts {
  readonly createdAt: bigint;
  /** Digest of the image in its registry, else its id. */
  readonly imageRef: string;
  readonly imageId: string;
  readonly imageName: string;
}

/** Facts as far as a list tells them, for a container about which Docker answers nothing else now. */
export const listedFacts = ({ createdAt, imageId, imageName }: ContainerSummary): ContainerFacts => ({
  createdAt,
  imageId,
  imageRef: imageId,
  imageName,
});

interface Ending {
  readonly state: ContainerState;
  readonly startedAt: bigint;
  readonly finishedAt: bigint;
  readonly reason: string;
}

/** A container that could not be started has no times in Docker: those of its creation stand for them. */
function endingOf(details: ContainerDetails): Ending {
  const { createdAt, startedAt, finishedAt } = details;
  if (details.running) return { state: ContainerState.CONTAINER_RUNNING, startedAt, finishedAt: 0n, reason: "" };
  if (finishedAt > 0n) {
    const reason = details.oomKilled ? "OOMKilled" : details.exitCode === 0 ? "Completed" : "Error";
    return { state: ContainerState.CONTAINER_EXITED, startedAt, finishedAt, reason };
  }
  if (details.exitCode === 0)
    return { state: ContainerState.CONTAINER_CREATED, startedAt: 0n, finishedAt: 0n, reason: "" };
  return {
    state: ContainerState.CONTAINER_EXITED,
    startedAt: createdAt,
    finishedAt: createdAt,
    reason: "ContainerCannotRun",
  };
}

/** The state of an inspected container as CRI counts it. */
export const stateOfDetails = (details: ContainerDetails): ContainerState => endingOf(details).state;

/** The state of a listed container as CRI counts it; undefined where only an inspection tells. */
export function stateOfSummary({ state }: ContainerSummary): ContainerState | undefined {
  switch (state) {
    case "running":
    case "paused":
      return ContainerState.CONTAINER_RUNNING;
    case "exited":
    case "dead":
      return ContainerState.CONTAINER_EXITED;
    case "created":
      return undefined;
    default:
      return ContainerState.CONTAINER_UNKNOWN;
  }
}

const PROPAGATION: Readonly<Record<string, MountPropagation>> = {
  rslave: MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
  slave: MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
  rshared: MountPropagation.PROPAGATION_BIDIRECTIONAL,
  shared: MountPropagation.PROPAGATION_BIDIRECTIONAL,
};

/** Returns the status for ContainerStatus. */
export function containerStatusMessage(details: ContainerDetails, facts: ContainerFacts): ContainerStatus {
  const metadata = containerMetadata(details.name);
  const { state, startedAt, finishedAt, reason } = endingOf(details);
  return ContainerStatus.fromPartial({
    id: details.id,
    ...(metadata === undefined ? {} : { metadata }),
    state,
    createdAt: details.createdAt,
    startedAt,
    finishedAt,
    exitCode: details.running ? 0 : details.exitCode,
    reason,
    message: details.running ? "" : shortened(details.error),
    image: { image: facts.imageName },
    imageRef: facts.imageRef,
    imageId: facts.imageId,
    ...splitLabels(details.labels),
    mounts: details.mounts.map(({ source, destination, writable, propagation }) => ({
      hostPath: source,
      containerPath: destination,
      readonly: !writable,
      propagation: PROPAGATION[propagation] ?? MountPropagation.PROPAGATION_PRIVATE,
    })),
    logPath: details.labels[LABEL.logPath] ?? "",
    resources: { linux: resourcesOf(details.hostConfig) },
    stopSignal: criSignal(details.stopSignal),
  });
}

/** Returns an item of ListContainers. */
export function containerMessage(summary: ContainerSummary, state: ContainerState, facts: ContainerFacts): Container {
  const metadata = containerMetadata(summary.name);
  return Container.fromPartial({
    id: summary.id,
    podSandboxId: summary.labels[LABEL.sandboxId] ?? "",
    ...(metadata === undefined ? {} : { metadata }),
    image: { image: facts.imageName },
    imageRef: facts.imageRef,
    imageId: facts.imageId,
    state,
    createdAt: facts.createdAt,
    ...splitLabels(summary.labels),
  });
}
