/**
 * Requirements on the kernel of a node: mounted cgroup controllers and tunables. Upstream: validateSystemRequirements
 * and setupKernelTunables of pkg/kubelet/cm/container_manager_linux.go.
 */
import { type KubeletError, kubeletError } from "../errors.ts";
import type { MountEntry } from "../mount/mountInfo.ts";

const V1_CONTROLLERS = ["cpu", "cpuacct", "cpuset", "memory"] as const;

/**
 * Returns why the cgroup mounts do not suffice for a kubelet; undefined if they do. On cgroup v2 no controller is
 * required, as upstream.
 */
export function cgroupMountFault(
  mounts: readonly Pick<MountEntry, "fsType" | "superOptions">[],
  cgroupVersion: 1 | 2 | undefined,
): KubeletError | undefined {
  if (cgroupVersion === 2) return undefined;
  const mounted = new Set(mounts.flatMap(({ fsType, superOptions }) => (fsType === "cgroup" ? superOptions : [])));
  const missing = V1_CONTROLLERS.filter((controller) => !mounted.has(controller));
  if (missing.length === 0) return undefined;
  const why = `system validation failed - Following Cgroup subsystem not mounted: [${missing.join(" ")}]`;
  return kubeletError("InvalidArgument", `${why} (no mount of type cgroup in /proc/self/mountinfo has it)`);
}

/** The values that a kubelet expects, by their path below `/proc/sys`. */
export const KERNEL_TUNABLES = {
  "vm/overcommit_memory": 1,
  "vm/panic_on_oom": 0,
  "kernel/panic": 10,
  "kernel/panic_on_oops": 1,
  "kernel/keys/root_maxkeys": 1_000_000,
  "kernel/keys/root_maxbytes": 25_000_000,
} as const;

/** Path of a tunable below `/proc/sys`. */
export type KernelTunable = keyof typeof KERNEL_TUNABLES;

/** A tunable as it was read: its text, or why it cannot be read. */
export interface TunableReading {
  readonly tunable: KernelTunable;
  readonly value: string | KubeletError;
}

/** A tunable with another value than expected. */
export interface TunableDifference {
  readonly tunable: KernelTunable;
  readonly expected: number;
  readonly actual: string;
}

/** Returns the tunables that were read and differ from their expected values. */
export function differingTunables(readings: readonly TunableReading[]): readonly TunableDifference[] {
  return readings.flatMap(({ tunable, value }) => {
    const expected = KERNEL_TUNABLES[tunable];
    if (typeof value !== "string" || value.trim() === String(expected)) return [];
    return [{ tunable, expected, actual: value.trim() }];
  });
}

/** Returns one line per tunable that cannot be read. */
export const unreadTunables = (readings: readonly TunableReading[]): readonly string[] =>
  readings.flatMap(({ value }) => (typeof value === "string" ? [] : [value.message]));

/** Returns one line per tunable that differs from its expected value or cannot be read. */
export const tunableFaults = (readings: readonly TunableReading[]): readonly string[] =>
  readings.flatMap((reading) => [
    ...unreadTunables([reading]),
    ...differingTunables([reading]).map(
      ({ tunable, expected, actual }) =>
        `invalid kernel flag: ${tunable}, expected value: ${expected}, actual value: ${actual}`,
    ),
  ]);

/** Formats several faults as one text: one as it is, more in a list. */
const listed = (faults: readonly string[]): string =>
  faults.length === 1 ? faults.join("") : `[${faults.join(", ")}]`;

/** Returns the error of a node that cannot set its tunables. */
export function unsetTunablesFault(faults: readonly string[]): KubeletError | undefined {
  if (faults.length === 0) return undefined;
  const hint = "set the values on the machine, such as with sysctl, or let rxlet write them";
  return kubeletError("PermissionDenied", `cannot set up the kernel: ${listed(faults)} (${hint})`);
}

/** Returns the error of a node with `protectKernelDefaults`. */
export function protectedDefaultsFault(faults: readonly string[]): KubeletError | undefined {
  if (faults.length === 0) return undefined;
  return kubeletError("InvalidArgument", `${listed(faults)} (protectKernelDefaults: true; see /proc/sys)`);
}
