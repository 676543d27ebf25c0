/** Converts records to CRI messages. Pure, except for the user ID of the runtime. */
import os from "node:os";
import {
  Container,
  ContainerAttributes,
  ContainerState,
  ContainerStatus,
  PodSandbox,
  PodSandboxAttributes,
  PodSandboxState,
  PodSandboxStatus,
  Signal,
} from "../gen/cri.ts";
import { HOST_IMAGE_ID, HOST_IMAGE_REF, HOST_IMAGE_TAG } from "./hostImage.ts";
import type { ContainerRecord, SandboxRecord } from "./records.ts";

/** The record's state as CRI counts it. */
export const sandboxState = (record: SandboxRecord): PodSandboxState =>
  record.ready ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY;

/** The record's state as CRI counts it. */
export function containerState(record: ContainerRecord): ContainerState {
  switch (record.phase.kind) {
    case "created":
      return ContainerState.CONTAINER_CREATED;
    case "running":
      return ContainerState.CONTAINER_RUNNING;
    case "exited":
      return ContainerState.CONTAINER_EXITED;
  }
}

/** Returns an item of ListPodSandbox. */
export const sandboxMessage = (record: SandboxRecord): PodSandbox =>
  PodSandbox.fromPartial({
    id: record.id,
    ...(record.config.metadata === undefined ? {} : { metadata: record.config.metadata }),
    state: sandboxState(record),
    createdAt: record.createdAt,
    labels: record.config.labels,
    annotations: record.config.annotations,
  });

/** Returns the status for PodSandboxStatus. */
export function sandboxStatusMessage(record: SandboxRecord): PodSandboxStatus {
  const { metadata, labels, annotations, linux } = record.config;
  const options = linux?.securityContext?.namespaceOptions;
  return PodSandboxStatus.fromPartial({
    id: record.id,
    ...(metadata === undefined ? {} : { metadata }),
    state: sandboxState(record),
    createdAt: record.createdAt,
    network: { ip: record.ip },
    linux: { namespaces: options === undefined ? {} : { options } },
    labels,
    annotations,
  });
}

/** Returns an item of ListContainers. */
export const containerMessage = (record: ContainerRecord): Container =>
  Container.fromPartial({
    id: record.id,
    podSandboxId: record.sandboxId,
    ...(record.config.metadata === undefined ? {} : { metadata: record.config.metadata }),
    ...(record.config.image === undefined ? {} : { image: record.config.image }),
    imageRef: HOST_IMAGE_REF,
    imageId: HOST_IMAGE_ID,
    state: containerState(record),
    createdAt: record.createdAt,
    labels: record.config.labels,
    annotations: record.config.annotations,
  });

/** Returns the status for ContainerStatus. */
export function containerStatusMessage(record: ContainerRecord): ContainerStatus {
  const { config, phase } = record;
  const { uid, gid } = os.userInfo();
  return ContainerStatus.fromPartial({
    id: record.id,
    ...(config.metadata === undefined ? {} : { metadata: config.metadata }),
    state: containerState(record),
    createdAt: record.createdAt,
    ...(phase.kind === "running" ? { startedAt: phase.startedAt } : {}),
    ...(phase.kind === "exited"
      ? {
          startedAt: phase.startedAt,
          finishedAt: phase.finishedAt,
          exitCode: phase.exitCode,
          reason: phase.reason,
          message: phase.message,
        }
      : {}),
    image: { ...config.image, image: HOST_IMAGE_TAG },
    imageRef: HOST_IMAGE_REF,
    imageId: HOST_IMAGE_ID,
    labels: config.labels,
    annotations: config.annotations,
    mounts: config.mounts,
    logPath: record.logPath,
    ...(record.resources === undefined ? {} : { resources: { linux: record.resources } }),
    user: { linux: { uid: BigInt(uid), gid: BigInt(gid) } },
    stopSignal: config.stopSignal === Signal.RUNTIME_DEFAULT ? Signal.SIGTERM : config.stopSignal,
  });
}

/** Returns the identity of a sandbox for statistics. */
export const sandboxAttributes = (record: SandboxRecord): PodSandboxAttributes =>
  PodSandboxAttributes.fromPartial({
    id: record.id,
    ...(record.config.metadata === undefined ? {} : { metadata: record.config.metadata }),
    labels: record.config.labels,
    annotations: record.config.annotations,
  });

/** Returns the identity of a container for statistics. */
export const containerAttributes = (record: ContainerRecord): ContainerAttributes =>
  ContainerAttributes.fromPartial({
    id: record.id,
    ...(record.config.metadata === undefined ? {} : { metadata: record.config.metadata }),
    labels: record.config.labels,
    annotations: record.config.annotations,
  });
