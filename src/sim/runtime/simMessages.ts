/** Converts records of the simulated runtime to CRI messages, with containerd's defaults. Pure. */
import { perObject } from "../../core/perObject.ts";
import {
  Container,
  ContainerState,
  ContainerStatus,
  Image,
  PodSandbox,
  PodSandboxState,
  PodSandboxStatus,
} from "../../gen/cri.ts";
import type { SimContainer, SimImage, SimSandbox } from "./simRecords.ts";

const sandboxState = ({ ready }: SimSandbox): PodSandboxState =>
  ready ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY;

/** Returns the container's state in the CRI. */
export function containerState({ phase }: SimContainer): ContainerState {
  switch (phase.kind) {
    case "created":
      return ContainerState.CONTAINER_CREATED;
    case "running":
      return ContainerState.CONTAINER_RUNNING;
    case "exited":
      return ContainerState.CONTAINER_EXITED;
  }
}

/** Returns the identity in all messages of one sandbox. */
const sandboxIdentity = ({ id, config }: SimSandbox) => ({
  id,
  ...(config.metadata === undefined ? {} : { metadata: config.metadata }),
  labels: config.labels,
  annotations: config.annotations,
});

/** Returns the identity in all messages of one container. */
const containerIdentity = ({ id, config }: SimContainer) => ({
  id,
  ...(config.metadata === undefined ? {} : { metadata: config.metadata }),
  labels: config.labels,
  annotations: config.annotations,
});

/** Returns the attributes of a sandbox or container in statistics. */
export const attributesOf = (record: SimSandbox | SimContainer) =>
  "ip" in record ? sandboxIdentity(record) : containerIdentity(record);

/** Returns an item of ListPodSandbox. */
export const sandboxMessage = perObject(
  (sandbox: SimSandbox): PodSandbox =>
    PodSandbox.fromPartial({
      ...sandboxIdentity(sandbox),
      state: sandboxState(sandbox),
      createdAt: sandbox.createdAt,
      runtimeHandler: sandbox.runtimeHandler,
    }),
);

/** Returns the answer of PodSandboxStatus. */
export function sandboxStatusMessage(sandbox: SimSandbox): PodSandboxStatus {
  const options = sandbox.config.linux?.securityContext?.namespaceOptions;
  return PodSandboxStatus.fromPartial({
    ...sandboxIdentity(sandbox),
    state: sandboxState(sandbox),
    createdAt: sandbox.createdAt,
    network: { ip: sandbox.ip },
    linux: { namespaces: options === undefined ? {} : { options } },
    runtimeHandler: sandbox.runtimeHandler,
  });
}

/** Returns an item of ListContainers. */
export const containerMessage = perObject(
  (container: SimContainer): Container =>
    Container.fromPartial({
      ...containerIdentity(container),
      podSandboxId: container.sandboxId,
      ...(container.config.image === undefined ? {} : { image: container.config.image }),
      imageRef: container.image.id,
      imageId: container.image.id,
      state: containerState(container),
      createdAt: container.createdAt,
    }),
);

/** Returns the path of the container's log; empty without one. */
export const logPathOf = ({ config }: SimContainer, sandbox: SimSandbox | undefined): string =>
  config.logPath === "" ? "" : `${sandbox?.config.logDirectory ?? ""}/${config.logPath}`;

/** Returns the answer of ContainerStatus; `sandbox` provides the log directory. */
export function containerStatusMessage(container: SimContainer, sandbox: SimSandbox | undefined): ContainerStatus {
  const { config, image, phase, resources } = container;
  return ContainerStatus.fromPartial({
    ...containerIdentity(container),
    state: containerState(container),
    createdAt: container.createdAt,
    ...(phase.kind === "running" ? { startedAt: phase.startedAt } : {}),
    ...(phase.kind === "exited" ? phase : {}),
    image: { ...config.image, image: image.repoTags[0] ?? image.id },
    imageRef: image.repoDigests[0] ?? image.id,
    imageId: image.id,
    mounts: config.mounts,
    logPath: logPathOf(container, sandbox),
    ...(resources === undefined ? {} : { resources: { linux: resources } }),
    stopSignal: config.stopSignal,
  });
}

/** Returns an item of ListImages, also the answer of ImageStatus. */
export const imageMessage = (image: SimImage): Image =>
  Image.fromPartial({
    id: image.id,
    repoTags: [...image.repoTags],
    repoDigests: [...image.repoDigests],
    size: BigInt(image.sizeBytes),
    spec: { image: image.id },
    pinned: image.pinned ?? false,
  });

/** Returns whether labels contain every entry of the selector. */
export function labelMatcher(selector: Readonly<Record<string, string>>) {
  const wanted = Object.entries(selector);
  return (labels: Readonly<Record<string, string>>): boolean => wanted.every(([key, value]) => labels[key] === value);
}
