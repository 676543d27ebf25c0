/**
 * Checks the configuration against the machine. Upstream: validateKubeletOSConfiguration, and the swap check of
 * NewContainerManager.
 */
import { type KubeletError, kubeletError } from "../errors.ts";
import type { KubeletConfiguration } from "./kubeletConfiguration.ts";

/** The facts of the machine that can prevent the kubelet's start. */
export interface ConfiguredHost {
  /** undefined: no cgroups, so no limits are enforced. */
  readonly cgroupVersion: 1 | 2 | undefined;
  readonly isSwapOn: boolean;
}

type HostRules = Pick<KubeletConfiguration, "failCgroupV1" | "singleProcessOOMKill" | "failSwapOn">;

/** Returns why the kubelet must not start on this machine; undefined when it may. */
export const hostFault = (config: HostRules, host: ConfiguredHost): KubeletError | undefined =>
  cgroupFault(config, host) ?? swapFault(config, host);

function swapFault({ failSwapOn }: HostRules, { isSwapOn }: ConfiguredHost): KubeletError | undefined {
  if (!failSwapOn || !isSwapOn) return undefined;
  const why = "running with swap on is not supported, please disable swap or set --fail-swap-on flag to false";
  return kubeletError("InvalidArgument", `${why} (or failSwapOn: false; /proc/swaps lists what is on)`);
}

function cgroupFault(
  { failCgroupV1, singleProcessOOMKill }: HostRules,
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
