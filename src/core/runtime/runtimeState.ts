/** Whether the runtime can be worked with, and what it can do. Counterpart: pkg/kubelet/runtime.go runtimeState. */
import type { StatusResponse } from "../../gen/cri.ts";

/** What pods can have under one handler of the runtime; the empty name is the default one. */
export interface RuntimeHandlerState {
  readonly name: string;
  readonly recursiveReadOnlyMounts: boolean;
  readonly userNamespaces: boolean;
}

export interface RuntimeState {
  /** Empty when pods can be synced; upstream's texts otherwise. */
  readonly runtimeProblems: readonly string[];
  /** Empty when pods that need the pod network can be synced. */
  readonly networkProblems: readonly string[];
  readonly runtimeName: string;
  /** undefined until the runtime has answered once; empty when it does not tell. */
  readonly handlers: readonly RuntimeHandlerState[] | undefined;
  /** Whether it can keep groups of the image out of a container. */
  readonly supplementalGroupsPolicy: boolean;
}

/** Before the runtime has answered once. */
export const unknownRuntimeState: RuntimeState = {
  runtimeProblems: ["container runtime status check may not have completed yet"],
  networkProblems: [],
  runtimeName: "",
  handlers: undefined,
  supplementalGroupsPolicy: false,
};

/** The state after a Status answer. */
export function runtimeStateOf(
  { status, runtimeHandlers, features }: StatusResponse,
  runtimeName: string,
): RuntimeState {
  const conditions = status?.conditions ?? [];
  const problem = (type: string, text: string): readonly string[] => {
    const condition = conditions.find((known) => known.type === type);
    if (condition?.status === true) return [];
    return [`${text}: ready:false reason:${condition?.reason ?? ""} message:${condition?.message ?? ""}`];
  };
  return {
    runtimeProblems: problem("RuntimeReady", "container runtime not ready: RuntimeReady"),
    networkProblems: problem("NetworkReady", "container runtime network not ready: NetworkReady"),
    runtimeName,
    handlers: runtimeHandlers.map((handler) => ({
      name: handler.name,
      recursiveReadOnlyMounts: handler.features?.recursiveReadOnlyMounts ?? false,
      userNamespaces: handler.features?.userNamespaces ?? false,
    })),
    supplementalGroupsPolicy: features?.supplementalGroupsPolicy ?? false,
  };
}

/** The state after a Status call failed. */
export const runtimeDown = (previous: RuntimeState, message: string): RuntimeState => ({
  ...previous,
  runtimeProblems: [`container runtime is down: ${message}`],
});
