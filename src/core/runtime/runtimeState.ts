/** Whether the runtime can be worked with. Counterpart: pkg/kubelet/runtime.go runtimeState. */
import type { RuntimeCondition } from "../../gen/cri.ts";

export interface RuntimeState {
  /** Empty when pods can be synced; upstream's texts otherwise. */
  readonly runtimeProblems: readonly string[];
  /** Empty when pods that need the pod network can be synced. */
  readonly networkProblems: readonly string[];
  readonly runtimeName: string;
}

/** Before the runtime has answered once. */
export const unknownRuntimeState: RuntimeState = {
  runtimeProblems: ["container runtime status check may not have completed yet"],
  networkProblems: [],
  runtimeName: "",
};

/** The state after a Status answer. */
export function runtimeStateOf(conditions: readonly RuntimeCondition[], runtimeName: string): RuntimeState {
  const problem = (type: string, text: string): readonly string[] => {
    const condition = conditions.find((known) => known.type === type);
    if (condition?.status === true) return [];
    return [`${text}: ready:false reason:${condition?.reason ?? ""} message:${condition?.message ?? ""}`];
  };
  return {
    runtimeProblems: problem("RuntimeReady", "container runtime not ready: RuntimeReady"),
    networkProblems: problem("NetworkReady", "container runtime network not ready: NetworkReady"),
    runtimeName,
  };
}

/** The state after a Status call failed. */
export const runtimeDown = (previous: RuntimeState, message: string): RuntimeState => ({
  ...previous,
  runtimeProblems: [`container runtime is down: ${message}`],
});
