/**
 * Names of cgroups by driver. The kubelet names them `/kubepods/burstable/pod<uid>`; cgroupfs keeps that, systemd makes
 * slices of it, where `-` is a step down. Counterparts: CgroupName of cgroup_manager_linux.go, systemd.ExpandSlice.
 */

/** Who makes cgroups. */
export type CgroupDriver = "cgroupfs" | "systemd";

const SUFFIX = ".slice";

const stepsOf = (name: string): readonly string[] => name.split("/").filter((step) => step !== "");

const escaped = (step: string): string => step.replaceAll("-", "_");

/** Whether the name can be read back from its slice: `_` stands for `-` there, so pods may not have it in theirs. */
export const hasSlice = (name: string): boolean => stepsOf(name).at(-1)?.includes("_") !== true;

/** The unit: `/kubepods/burstable/poda-b` is `kubepods-burstable-poda_b.slice`, the root `-.slice`. */
export function sliceUnit(name: string): string {
  const steps = stepsOf(name);
  return steps.length === 0 ? `-${SUFFIX}` : `${steps.map(escaped).join("-")}${SUFFIX}`;
}

/** The unit above it. */
export const parentSliceUnit = (name: string): string => sliceUnit(stepsOf(name).slice(0, -1).join("/"));

/** Where the unit is in a hierarchy: `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-poda_b.slice`. */
export function slicePath(name: string): string {
  const steps = stepsOf(name);
  return `/${steps.map((_, at) => sliceUnit(steps.slice(0, at + 1).join("/"))).join("/")}`;
}

/** The last step of the name of a slice right below `parent`; undefined for anything else that is there. */
export function parseChildSlice(parent: string, directory: string): string | undefined {
  const above = stepsOf(parent).map((step) => `${escaped(step)}-`);
  const prefix = above.join("");
  if (!directory.startsWith(prefix) || !directory.endsWith(SUFFIX)) return undefined;
  const step = directory.slice(prefix.length, -SUFFIX.length);
  return step === "" || step.includes("-") ? undefined : step.replaceAll("_", "-");
}

/** The name of the cgroup a path of systemd ends in: `/a.slice/a-b_c.slice` and `a-b_c.slice` are `/a/b-c`. */
export function sliceCgroupName(path: string): string {
  const last = stepsOf(path).at(-1) ?? "";
  const unit = last.endsWith(SUFFIX) ? last.slice(0, -SUFFIX.length) : last;
  return `/${unit
    .split("-")
    .map((step) => step.replaceAll("_", "-"))
    .join("/")}`;
}

/** A cgroup as runtimes are told of it, in either driver a path below the root of the hierarchy. */
export const driverCgroupPath = (driver: CgroupDriver, name: string): string =>
  driver === "systemd" ? slicePath(name) : name;
