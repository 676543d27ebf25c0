/** Configurations that a machine refuses, by its cgroups and its swap. */
import { expect, it } from "vitest";
import { hostFault } from "../../../../src/core/config/hostFault.ts";

const CGROUP_V1 =
  "kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is unsupported and will be removed in a future release (failCgroupV1: false lets it start)";
const OOM_KILL = "invalid configuration: singleProcessOOMKill must not be explicitly set to false when using cgroup v1";

it.each([
  [1, true, undefined, CGROUP_V1],
  [1, true, false, CGROUP_V1],
  [1, false, undefined, undefined],
  [1, false, true, undefined],
  [1, false, false, OOM_KILL],
  [2, true, false, undefined],
  [undefined, true, false, undefined],
] as const)(
  "cgroup v%s, failCgroupV1 %s, singleProcessOOMKill %s: %s",
  (cgroupVersion, failCgroupV1, kill, message) => {
    const config = { failCgroupV1, failSwapOn: true, ...(kill === undefined ? {} : { singleProcessOOMKill: kill }) };
    expect(hostFault(config, { cgroupVersion, isSwapOn: false })?.message).toBe(message);
  },
);

const SWAP =
  "running with swap on is not supported, please disable swap or set --fail-swap-on flag to false (or failSwapOn: false; /proc/swaps lists what is on)";

it.each([
  [true, true, SWAP],
  [true, false, undefined],
  [false, true, undefined],
])("failSwapOn %s, swap on %s: %s", (failSwapOn, isSwapOn, message) => {
  expect(hostFault({ failCgroupV1: true, failSwapOn }, { cgroupVersion: 2, isSwapOn })?.message).toBe(message);
});
