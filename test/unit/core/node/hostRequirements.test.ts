/** Requirements on the mounted cgroup controllers and on the kernel's tunables. */
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import {
  cgroupMountFault,
  KERNEL_TUNABLES,
  type KernelTunable,
  protectedDefaultsFault,
  tunableFaults,
  unsetTunablesFault,
} from "../../../../src/core/node/hostRequirements.ts";

const mounted = (...controllers: readonly string[]) => controllers.map((each) => cgroup("rw", ...each.split(",")));
const cgroup = (...superOptions: readonly string[]) => ({ fsType: "cgroup", superOptions });

describe("cgroupMountFault", () => {
  it.each([
    ["each controller apart", mounted("cpu", "cpuacct", "cpuset", "memory"), 1, undefined],
    ["joint controllers", mounted("cpu,cpuacct", "cpuset", "memory", "pids"), 1, undefined],
    ["one is missing", mounted("cpu,cpuacct", "memory"), 1, "[cpuset]"],
    ["several are missing", mounted("cpuset", "pids"), 1, "[cpu cpuacct memory]"],
    ["no cgroups", [], undefined, "[cpu cpuacct cpuset memory]"],
    [
      "options of another file system",
      [{ fsType: "tmpfs", superOptions: ["cpu", "cpuacct", "cpuset", "memory"] }],
      undefined,
      "[cpu cpuacct cpuset memory]",
    ],
    ["cgroup v2", [{ fsType: "cgroup2", superOptions: ["rw"] }], 2, undefined],
  ] as const)("%s", (_case, mounts, version, missing) => {
    expect(cgroupMountFault(mounts, version)?.message).toBe(
      missing &&
        `system validation failed - Following Cgroup subsystem not mounted: ${missing} (no mount of type cgroup in /proc/self/mountinfo has it)`,
    );
  });
});

const EXPECTED = { ...KERNEL_TUNABLES } as Readonly<Record<string, number>>;
const readings = (changed: Readonly<Record<string, string | undefined>> = {}) =>
  Object.entries(EXPECTED).map(([name, value]) => ({
    tunable: name as KernelTunable,
    value:
      name in changed ? (changed[name] ?? kubeletError("NotFound", `cannot read /proc/sys/${name}`)) : `${value}\n`,
  }));

describe("tunableFaults", () => {
  it.each([
    [{}, []],
    [{ "kernel/panic": "0\n" }, ["invalid kernel flag: kernel/panic, expected value: 10, actual value: 0"]],
    [
      { "vm/overcommit_memory": "2\n", "vm/panic_on_oom": "x" },
      [
        "invalid kernel flag: vm/overcommit_memory, expected value: 1, actual value: 2",
        "invalid kernel flag: vm/panic_on_oom, expected value: 0, actual value: x",
      ],
    ],
    [{ "kernel/keys/root_maxkeys": undefined }, ["cannot read /proc/sys/kernel/keys/root_maxkeys"]],
  ])("%j", (changed, faults) => {
    expect(tunableFaults(readings(changed))).toEqual(faults);
  });
});

it.each([
  [[], undefined],
  [["a"], "a (protectKernelDefaults: true; see /proc/sys)"],
  [["a", "b"], "[a, b] (protectKernelDefaults: true; see /proc/sys)"],
])("the error of protectKernelDefaults with faults %j", (faults, message) => {
  expect(protectedDefaultsFault(faults)?.message).toBe(message);
});

it.each([
  [[], undefined],
  [["a"], "cannot set up the kernel: a (set the values on the machine, such as with sysctl, or let rxlet write them)"],
  [
    ["a", "b"],
    "cannot set up the kernel: [a, b] (set the values on the machine, such as with sysctl, or let rxlet write them)",
  ],
])("the error of a node that cannot set its tunables, with faults %j", (faults, message) => {
  expect(unsetTunablesFault(faults)?.message).toBe(message);
});
