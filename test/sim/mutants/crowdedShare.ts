import { LinuxContainerResources } from "../../../src/gen/cri.ts";
import { type Mutant, withRuntime } from "./mutant.ts";

/** Lets containers without CPUs of their own run on every CPU. */
export const crowdedShare: Mutant = {
  bug: "the shared CPUs have those of containers alone",
  caughtBy: "ownCpus",
  workload: "cores",
  createKubelet: withRuntime((runtime) => ({
    updateContainerResources: (request, options) =>
      runtime.updateContainerResources(
        request.linux?.cpusetCpus === ""
          ? request
          : { ...request, linux: LinuxContainerResources.fromPartial({ ...request.linux, cpusetCpus: "0-7" }) },
        options,
      ),
  })),
};
