import { of } from "rxjs";
import { type Mutant, withRuntime } from "./mutant.ts";

/** Believes that containers have moved, without telling the runtime. */
export const stayingCrowd: Mutant = {
  bug: "containers stay on CPUs that a container got for itself",
  caughtBy: "hardwareSettles",
  workload: "cores",
  createKubelet: withRuntime((runtime) => ({
    updateContainerResources: (request, options) =>
      request.linux?.cpusetCpus === "" ? runtime.updateContainerResources(request, options) : of({}),
  })),
};
