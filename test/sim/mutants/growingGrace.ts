import { withRuntime, type Mutant } from "./mutant.ts";

/** Gives a container that did not stop in time a longer grace period at every retry. */
export const growingGrace: Mutant = {
  bug: "the grace period grows when a stop is repeated",
  caughtBy: "graceNeverGrows",
  seed: 3,
  createKubelet: withRuntime((runtime) => {
    const tries = new Map<string, number>();
    return {
      stopContainer(request, options) {
        const count = tries.get(request.containerId) ?? 0;
        tries.set(request.containerId, count + 1);
        return runtime.stopContainer({ ...request, timeout: request.timeout + BigInt(count * 30) }, options);
      },
    };
  }),
};
