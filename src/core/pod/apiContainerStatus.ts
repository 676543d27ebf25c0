/**
 * Builds a container's entry in the pod status from the runtime status of one instance, or without any instance.
 * Upstream: convertContainerStatus in convertToAPIContainerStatuses (pkg/kubelet/kubelet_pods.go).
 */
import type { ApiContainerStatus, Container } from "../api.ts";
import { epochMs } from "../ids.ts";
import { perObject } from "../perObject.ts";
import type { RuntimeContainer } from "../runtime/podRuntimeStatus.ts";
import { formatInstant } from "../time/civilTime.ts";
import { containerStatusResources } from "./statusResources.ts";
import { NULL_TIME } from "./conditions.ts";
import { RESTARTING_ALL } from "./restartAllContainers.ts";

export type ContainerState = NonNullable<ApiContainerStatus["state"]>;
type VolumeMounts = NonNullable<Container["volumeMounts"]>;
type VolumeMountStatus = NonNullable<ApiContainerStatus["volumeMounts"]>[number];

/** Node facts that the entries depend on. */
export interface StatusContext {
  /** Prefix of container IDs, for example `containerd`. */
  readonly runtimeName: string;
  /** Whether the runtime supports recursive read-only mounts. */
  readonly recursiveReadOnly: boolean;
}

/** State of a container whose exit was not observed. */
export const lostState = (message: string): ContainerState => ({
  terminated: { exitCode: 137, reason: "ContainerStatusUnknown", message, startedAt: NULL_TIME, finishedAt: NULL_TIME },
});

const REMOVED = {
  reason: RESTARTING_ALL,
  message: "The container is removed because RestartAllContainers in place",
};

/** State and last state of a container removed by RestartAllContainers. */
export const removedForRestart: Required<Pick<ApiContainerStatus, "state" | "lastState">> = {
  state: { waiting: REMOVED },
  lastState: { terminated: { exitCode: 137, ...REMOVED, startedAt: NULL_TIME, finishedAt: NULL_TIME } },
};

const instant = (at: RuntimeContainer["startedAt"]): string => formatInstant(at ?? epochMs(0));

function stateOf(container: RuntimeContainer, containerID: string, isLost: boolean): ContainerState {
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
      // The container ran before: report its loss as termination, not as waiting.
      return isLost ? lostState("The container could not be located when the pod was terminated") : { waiting: {} };
    case "created":
      return { waiting: {} };
  }
}

const volumeMountStatuses =
  (recursiveReadOnly: boolean) =>
  (mounts: VolumeMounts): readonly VolumeMountStatus[] =>
    mounts.map((mount): VolumeMountStatus => {
      const wanted = mount.recursiveReadOnly === "IfPossible" || mount.recursiveReadOnly === "Enabled";
      return {
        name: mount.name,
        mountPath: mount.mountPath,
        ...(mount.readOnly === true
          ? { readOnly: true, recursiveReadOnly: wanted && recursiveReadOnly ? "Enabled" : "Disabled" }
          : {}),
      };
    });

/** Each status of a pod has the same list, so comparisons of ten thousand mounts end at once. */
const withRecursion = perObject(volumeMountStatuses(true));
const withoutRecursion = perObject(volumeMountStatuses(false));

function mountsField(spec: Container, { recursiveReadOnly }: StatusContext): Pick<ApiContainerStatus, "volumeMounts"> {
  const { volumeMounts = [] } = spec;
  if (volumeMounts.length === 0) return {};
  return { volumeMounts: recursiveReadOnly ? withRecursion(volumeMounts) : withoutRecursion(volumeMounts) };
}

/** Returns the entry of a container that the runtime does not know. */
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

/**
 * Returns the entry of a container from one of its instances. `before` is the entry last generated; `actual` carries
 * the resources in force.
 */
export function presentStatus(
  spec: Container,
  container: RuntimeContainer,
  before: ApiContainerStatus | undefined,
  context: StatusContext,
  actual: Container = spec,
): ApiContainerStatus {
  const containerID = `${context.runtimeName}://${container.id}`;
  const lost = container.state === "unknown" && before?.state?.running !== undefined ? before : undefined;
  const { requests: allocated } = containerStatusResources(spec);
  return {
    name: spec.name,
    state: stateOf(container, containerID, lost !== undefined),
    lastState: {},
    ready: false,
    restartCount: lost === undefined ? container.restartCount : lost.restartCount + 1,
    image: container.image,
    imageID: container.imageRef,
    containerID,
    ...(allocated === undefined ? {} : { allocatedResources: allocated }),
    resources: containerStatusResources(actual),
    ...mountsField(spec, context),
    // Only containers that set a stop signal report one. Otherwise the value comes from the image or the runtime.
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

/** Returns the entry with `started` and `ready` set, in the field order of the API. */
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
