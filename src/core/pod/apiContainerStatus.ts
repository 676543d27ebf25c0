/**
 * One container's entry in a pod status, from what the runtime says of one instance of it, or from nothing at all.
 * Upstream: convertContainerStatus in convertToAPIContainerStatuses (kubelet_pods.go).
 */
import type { ApiContainerStatus, Container } from "../api.ts";
import { epochMs } from "../ids.ts";
import type { RuntimeContainer } from "../runtime/podRuntimeStatus.ts";
import { formatInstant } from "../telemetry/civilTime.ts";
import { containerStatusResources } from "./podResources.ts";
import { NULL_TIME } from "./conditions.ts";
import { RESTARTING_ALL } from "./restartAllContainers.ts";

export type ContainerState = NonNullable<ApiContainerStatus["state"]>;
type VolumeMountStatus = NonNullable<ApiContainerStatus["volumeMounts"]>[number];

/** Facts about the node that entries depend on. */
export interface StatusContext {
  /** Prefix of container IDs, for example `containerd`. */
  readonly runtimeName: string;
  /** Whether the runtime can mount recursively read-only. */
  readonly recursiveReadOnly: boolean;
}

/** State of a container whose end nobody saw. */
export const lostState = (message: string): ContainerState => ({
  terminated: { exitCode: 137, reason: "ContainerStatusUnknown", message, startedAt: NULL_TIME, finishedAt: NULL_TIME },
});

const REMOVED = {
  reason: RESTARTING_ALL,
  message: "The container is removed because RestartAllContainers in place",
};

/** State and last state of a container that was removed for a restart of the whole pod. */
export const removedForRestart: Required<Pick<ApiContainerStatus, "state" | "lastState">> = {
  state: { waiting: REMOVED },
  lastState: { terminated: { exitCode: 137, ...REMOVED, startedAt: NULL_TIME, finishedAt: NULL_TIME } },
};

const instant = (at: RuntimeContainer["startedAt"]): string => formatInstant(at ?? epochMs(0));

function stateOf(
  container: RuntimeContainer,
  containerID: string,
  before: ApiContainerStatus | undefined,
): ContainerState {
  switch (container.state) {
    case "running":
      return { running: { startedAt: instant(container.startedAt) } };
    case "exited":
      return {
        terminated: {
          exitCode: container.exitCode,
          ...(container.reason === "" ? {} : { reason: container.reason }),
          ...(container.message === "" ? {} : { message: container.message }),
          startedAt: instant(container.startedAt),
          finishedAt: instant(container.finishedAt),
          containerID,
        },
      };
    case "unknown":
      // It ran, and now nobody knows: that is an end, not a wait.
      return before?.state?.running === undefined
        ? { waiting: {} }
        : lostState("The container could not be located when the pod was terminated");
    case "created":
      return { waiting: {} };
  }
}

function volumeMountStatuses(spec: Container, { recursiveReadOnly }: StatusContext): readonly VolumeMountStatus[] {
  return (spec.volumeMounts ?? []).map((mount): VolumeMountStatus => {
    const wanted = mount.recursiveReadOnly === "IfPossible" || mount.recursiveReadOnly === "Enabled";
    return {
      name: mount.name,
      mountPath: mount.mountPath,
      ...(mount.readOnly === true
        ? { readOnly: true, recursiveReadOnly: wanted && recursiveReadOnly ? "Enabled" : "Disabled" }
        : {}),
    };
  });
}

function mountsField(spec: Container, context: StatusContext): Pick<ApiContainerStatus, "volumeMounts"> {
  const volumeMounts = volumeMountStatuses(spec, context);
  return volumeMounts.length === 0 ? {} : { volumeMounts };
}

/** Entry of a container the runtime does not know. */
export const absentStatus = (spec: Container, waitingReason: string, context: StatusContext): ApiContainerStatus => ({
  name: spec.name,
  state: { waiting: { reason: waitingReason } },
  lastState: {},
  ready: false,
  restartCount: 0,
  image: spec.image ?? "",
  imageID: "",
  ...mountsField(spec, context),
});

/** Entry of a container as one of its instances has it; `before` is the entry told last, `actual` has the size in force. */
export function presentStatus(
  spec: Container,
  container: RuntimeContainer,
  before: ApiContainerStatus | undefined,
  context: StatusContext,
  actual: Container = spec,
): ApiContainerStatus {
  const containerID = `${context.runtimeName}://${container.id}`;
  const state = stateOf(container, containerID, before);
  const { requests: allocated } = containerStatusResources(spec);
  const isLost = container.state === "unknown" && state.terminated !== undefined;
  return {
    name: spec.name,
    state,
    lastState: {},
    ready: false,
    restartCount: isLost ? (before?.restartCount ?? 0) + 1 : container.restartCount,
    image: container.image,
    imageID: container.imageRef,
    containerID,
    ...(allocated === undefined ? {} : { allocatedResources: allocated }),
    resources: containerStatusResources(actual),
    ...mountsField(spec, context),
    // Told of those alone that ask for one: of the others it is what the image or the runtime says.
    ...(container.stopSignal === undefined || spec.lifecycle?.stopSignal === undefined
      ? {}
      : { stopSignal: container.stopSignal }),
    ...(container.user === undefined
      ? {}
      : {
          user: {
            linux: {
              uid: container.user.uid,
              gid: container.user.gid,
              ...(container.user.supplementalGroups.length === 0
                ? {}
                : { supplementalGroups: container.user.supplementalGroups }),
            },
          },
        }),
  };
}

/** The entry with `started` and `ready` in their places. */
export function withReadiness(
  status: ApiContainerStatus,
  readiness: { readonly started: boolean; readonly ready: boolean },
): ApiContainerStatus {
  const { name, state, lastState, restartCount, image, imageID, containerID, ready: _, started: __, ...rest } = status;
  return {
    name,
    ...(state === undefined ? {} : { state }),
    ...(lastState === undefined ? {} : { lastState }),
    ready: readiness.ready,
    restartCount,
    image,
    imageID,
    ...(containerID === undefined ? {} : { containerID }),
    started: readiness.started,
    ...rest,
  };
}
