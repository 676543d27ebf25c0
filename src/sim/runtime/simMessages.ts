/** Records of the simulated runtime as CRI messages, with what containerd fills in. Pure. */
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

/** The container's state as CRI counts it. */
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

/** Identity shared by the messages of one sandbox. */
const sandboxIdentity = ({ id, config }: SimSandbox) => ({
  id,
  ...(config.metadata === undefined ? {} : { metadata: config.metadata }),
  labels: config.labels,
  annotations: config.annotations,
});

/** Identity shared by the messages of one container. */
const containerIdentity = ({ id, config }: SimContainer) => ({
  id,
  ...(config.metadata === undefined ? {} : { metadata: config.metadata }),
  labels: config.labels,
  annotations: config.annotations,
});

/** Attributes in statistics, of either. */
export const attributesOf = (record: SimSandbox | SimContainer) =>
  "ip" in record ? sandboxIdentity(record) : containerIdentity(record);

/** An item of ListPodSandbox. */
export const sandboxMessage = perObject(
  (sandbox: SimSandbox): PodSandbox =>
    PodSandbox.fromPartial({
      ...sandboxIdentity(sandbox),
      state: sandboxState(sandbox),
      createdAt: sandbox.createdAt,
      runtimeHandler: sandbox.runtimeHandler,
    }),
);

/** The answer of PodSandboxStatus. */
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

/** An item of ListContainers. */
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

/** Where the container's log is; empty when it has none. */
export const logPathOf = ({ config }: SimContainer, sandbox: SimSandbox | undefined): string =>
  config.logPath === "" ? "" : `${sandbox?.config.logDirectory ?? ""}/${config.logPath}`;

/** The answer of ContainerStatus; `sandbox` is where the log directory comes from. */
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

/** An item of ListImages and the answer of ImageStatus. */
export const imageMessage = (image: SimImage): Image =>
  Image.fromPartial({
    id: image.id,
    repoTags: [...image.repoTags],
    repoDigests: [...image.repoDigests],
    size: BigInt(image.sizeBytes),
    spec: { image: image.id },
  });

/** Tells of labels whether every one of the selector is there with that value. */
export function labelMatcher(selector: Readonly<Record<string, string>>) {
  const wanted = Object.entries(selector);
  return (labels: Readonly<Record<string, string>>): boolean => wanted.every(([key, value]) => labels[key] === value);
}
