import { answeredBefore, withRuntime, type Mutant } from "./mutant.ts";

/** Does not wait for the end of containers and sandboxes whose stop it requested. */
export const newSandboxFirst: Mutant = {
  bug: "a new sandbox is created before the old sandbox and its containers have ended",
  caughtBy: "oneSandbox",
  seed: 75,
  createKubelet: withRuntime((runtime, { clock }) => ({
    stopContainer: (request, options) => answeredBefore(runtime.stopContainer(request, options), {}, clock),
    stopPodSandbox: (request, options) => answeredBefore(runtime.stopPodSandbox(request, options), {}, clock),
  })),
};
