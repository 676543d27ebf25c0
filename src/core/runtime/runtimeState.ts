/** Whether the runtime can be worked with, and what it can do. Counterpart: pkg/kubelet/runtime.go runtimeState. */
import type { StatusResponse } from "../../gen/cri.ts";
import type { MonotonicMs } from "../ids.ts";

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
  /** Since when it cannot be reached; undefined while it can. */
  readonly downSince: MonotonicMs | undefined;
  readonly runtimeName: string;
  readonly runtimeVersion: string;
  /** undefined until the runtime has answered once; empty when it does not tell. */
  readonly handlers: readonly RuntimeHandlerState[] | undefined;
  /** Whether it can keep groups of the image out of a container; undefined when it tells of no features. */
  readonly supplementalGroupsPolicy: boolean | undefined;
}

/** Before the runtime has answered once. */
export const unknownRuntimeState: RuntimeState = {
  runtimeProblems: ["container runtime status check may not have completed yet"],
  networkProblems: [],
  downSince: undefined,
  runtimeName: "",
  runtimeVersion: "",
  handlers: undefined,
  supplementalGroupsPolicy: undefined,
};

/** The state after a Status answer. */
export function runtimeStateOf(
  { status, runtimeHandlers, features }: StatusResponse,
  { runtimeName, runtimeVersion }: Pick<RuntimeState, "runtimeName" | "runtimeVersion">,
): RuntimeState {
  const conditions = status?.conditions ?? [];
  const problem = (type: string, text: string): readonly string[] => {
    const condition = conditions.find((known) => known.type === type);
    if (condition?.status === true) return [];
    return [`${text}: ${type}=false reason:${condition?.reason ?? ""} message:${condition?.message ?? ""}`];
  };
  return {
    runtimeProblems: problem("RuntimeReady", "container runtime not ready"),
    networkProblems: problem("NetworkReady", "container runtime network not ready"),
    downSince: undefined,
    runtimeName,
    runtimeVersion,
    handlers: runtimeHandlers.map((handler) => ({
      name: handler.name,
      recursiveReadOnlyMounts: handler.features?.recursiveReadOnlyMounts ?? false,
      userNamespaces: handler.features?.userNamespaces ?? false,
    })),
    supplementalGroupsPolicy: features?.supplementalGroupsPolicy,
  };
}

/** The state after a Status call failed, at `now`. */
export const runtimeDown = (previous: RuntimeState, message: string, now: MonotonicMs): RuntimeState => ({
  ...previous,
  runtimeProblems: [`container runtime is down: ${message}`],
  downSince: previous.downSince ?? now,
});
