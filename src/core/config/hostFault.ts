/** What the configuration and the machine have against each other. Upstream: validateKubeletOSConfiguration. */
import { type KubeletError, kubeletError } from "../errors.ts";
import type { KubeletConfiguration } from "./kubeletConfiguration.ts";

/** The machine, as far as a start may fail on it. */
export interface ConfiguredHost {
  /** Undefined: without cgroups, of which no limit is expected then. */
  readonly cgroupVersion: 1 | 2 | undefined;
}

/** Why the kubelet must not start here; undefined when it may. */
export function hostFault(
  { failCgroupV1, singleProcessOOMKill }: Pick<KubeletConfiguration, "failCgroupV1" | "singleProcessOOMKill">,
  { cgroupVersion }: ConfiguredHost,
): KubeletError | undefined {
  if (cgroupVersion !== 1) return undefined;
  if (failCgroupV1) {
    const why =
      "kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is unsupported and will be removed in a future release";
    return kubeletError("InvalidArgument", `${why} (failCgroupV1: false lets it start)`);
  }
  if (singleProcessOOMKill !== false) return undefined;
  const why = "singleProcessOOMKill must not be explicitly set to false when using cgroup v1";
  return kubeletError("InvalidArgument", `invalid configuration: ${why}`);
}
