/**
 * Names of cgroups per driver. The kubelet's names are `/kubepods/burstable/pod<uid>`; cgroupfs keeps them, systemd
 * turns them into slices, where `-` separates levels. Upstream: CgroupName of cgroup_manager_linux.go,
 * systemd.ExpandSlice.
 */

/** The component that creates cgroups. */
export type CgroupDriver = "cgroupfs" | "systemd";

const SUFFIX = ".slice";

const stepsOf = (name: string): readonly string[] => name.split("/").filter((step) => step !== "");

const escaped = (step: string): string => step.replaceAll("-", "_");

/**
 * Returns whether the name can be recovered from its slice, where `_` stands for `-`; names of pods therefore must not
 * contain `_`.
 */
export const hasSlice = (name: string): boolean => stepsOf(name).at(-1)?.includes("_") !== true;

/** Returns the unit: `/kubepods/burstable/poda-b` is `kubepods-burstable-poda_b.slice`, the root `-.slice`. */
export function sliceUnit(name: string): string {
  const steps = stepsOf(name);
  return steps.length === 0 ? `-${SUFFIX}` : `${steps.map(escaped).join("-")}${SUFFIX}`;
}

/** Returns the parent unit. */
export const parentSliceUnit = (name: string): string => sliceUnit(stepsOf(name).slice(0, -1).join("/"));

/**
 * Returns the unit's path in a hierarchy: `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-poda_b.slice`.
 */
export function slicePath(name: string): string {
  const steps = stepsOf(name);
  return `/${steps.map((_, at) => sliceUnit(steps.slice(0, at + 1).join("/"))).join("/")}`;
}

/** Returns the last element of the name of a slice directly below `parent`; undefined for any other directory. */
export function parseChildSlice(parent: string, directory: string): string | undefined {
  const above = stepsOf(parent).map((step) => `${escaped(step)}-`);
  const prefix = above.join("");
  if (!directory.startsWith(prefix) || !directory.endsWith(SUFFIX)) return undefined;
  const step = directory.slice(prefix.length, -SUFFIX.length);
  return step === "" || step.includes("-") ? undefined : step.replaceAll("_", "-");
}

/**
 * Returns the name of the cgroup that a systemd path ends in: `/a.slice/a-b_c.slice` and `a-b_c.slice` are `/a/b-c`.
 */
export function sliceCgroupName(path: string): string {
  const last = stepsOf(path).at(-1) ?? "";
  const unit = last.endsWith(SUFFIX) ? last.slice(0, -SUFFIX.length) : last;
  return `/${unit
    .split("-")
    .map((step) => step.replaceAll("_", "-"))
    .join("/")}`;
}

/** Returns a cgroup's path below the root of the hierarchy, as runtimes get it with this driver. */
export const driverCgroupPath = (driver: CgroupDriver, name: string): string =>
  driver === "systemd" ? slicePath(name) : name;
