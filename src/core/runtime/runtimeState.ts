/** Health and features of the runtime. Upstream: runtimeState in pkg/kubelet/runtime.go. */
import type { StatusResponse } from "../../gen/cri.ts";
import type { MonotonicMs } from "../ids.ts";

/** Features of one runtime handler; the empty name is the default handler. */
export interface RuntimeHandlerState {
  readonly name: string;
  readonly recursiveReadOnlyMounts: boolean;
  readonly userNamespaces: boolean;
}

export interface RuntimeState {
  /** Upstream's texts; empty when pods can be synced. */
  readonly runtimeProblems: readonly string[];
  /** Empty when pods that need the pod network can be synced. */
  readonly networkProblems: readonly string[];
  /** Time since which the runtime is unreachable; undefined while it is reachable. */
  readonly downSince: MonotonicMs | undefined;
  readonly runtimeName: string;
  readonly runtimeVersion: string;
  /** Undefined before the first response; empty when the runtime does not report handlers. */
  readonly handlers: readonly RuntimeHandlerState[] | undefined;
  /** Whether the runtime supports supplementalGroupsPolicy; undefined when it does not report features. */
  readonly supplementalGroupsPolicy: boolean | undefined;
}

/** The state before the first response of the runtime. */
export const unknownRuntimeState: RuntimeState = {
  runtimeProblems: ["container runtime status check may not have completed yet"],
  networkProblems: [],
  downSince: undefined,
  runtimeName: "",
  runtimeVersion: "",
  handlers: undefined,
  supplementalGroupsPolicy: undefined,
};

/** Returns the state after a Status response. */
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

/** Returns the state after a failed Status call at `now`. */
export const runtimeDown = (previous: RuntimeState, message: string, now: MonotonicMs): RuntimeState => ({
  ...previous,
  runtimeProblems: [`container runtime is down: ${message}`],
  downSince: previous.downSince ?? now,
});
