import { answeredBefore, withRuntime, type Mutant } from "./mutant.ts";

/** Does not wait for the end of containers and sandboxes it asks to stop. */
export const newSandboxFirst: Mutant = {
  bug: "a new sandbox is made before the old one and what runs in it have ended",
  caughtBy: "oneSandbox",
  createKubelet: withRuntime((runtime, { clock }) => ({
    stopContainer: (request, options) => answeredBefore(runtime.stopContainer(request, options), {}, clock),
    stopPodSandbox: (request, options) => answeredBefore(runtime.stopPodSandbox(request, options), {}, clock),
  })),
};
