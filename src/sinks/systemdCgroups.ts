/**
 * The Cgroups port as systemd slices: systemd creates and removes the units and receives their limits, which are also
 * written to the cgroup files, because some have no property. Keeps no state. Bounds: see sliceUnits.ts. Upstream:
 * opencontainers/cgroups/systemd, for slices.
 */
import { concat, defer, EMPTY, ignoreElements, map, of, switchMap } from "rxjs";
import { kubeletError } from "../core/errors.ts";
import { hasSlice, parseChildSlice, slicePath, sliceUnit } from "../core/resources/cgroupDriver.ts";
import { sliceLimits } from "../core/resources/systemdProperties.ts";
import type { Call } from "../ports/call.ts";
import type { CgroupResources, Cgroups } from "../ports/cgroup.ts";
import { createSliceUnits, type SliceUnitsOptions } from "./sliceUnits.ts";

/** Dependencies of the port. */
export interface SystemdCgroupsOptions extends SliceUnitsOptions {
  /** Cgroups on the file system, by path. */
  readonly files: Cgroups;
}

/**
 * Creates the cgroups of a node with the systemd cgroup driver. Errors: those of `systemd` and `files`, and
 * DeadlineExceeded.
 */
export function createSystemdCgroups({ systemd, host, files, clock }: SystemdCgroupsOptions): Cgroups {
  const units = createSliceUnits({ systemd, host, clock });
  const ensure = (name: string, resources: CgroupResources): Call<void> =>
    defer(() => {
      if (!hasSlice(name)) {
        throw kubeletError("InvalidArgument", `cgroup ${name} cannot be a systemd slice: it has "_"`);
      }
      const unit = sliceUnit(name);
      const { properties, limits } = sliceLimits(resources, host);
      return concat(units.ensure(name, unit, properties), files.ensure(slicePath(name), limits)).pipe(ignoreElements());
    });
  return {
    ensure,
    // systemd is called only when a file differs: `systemctl set-property` changes the file as well.
    correct: (name, resources) =>
      defer(() => files.correct(slicePath(name), sliceLimits(resources, host).limits)).pipe(
        switchMap((drifts) =>
          concat(drifts.length === 0 ? EMPTY : ensure(name, resources).pipe(ignoreElements()), of(drifts)),
        ),
      ),
    memoryUsage: (name) => files.memoryUsage(slicePath(name)),
    update: (name, resources): Call<void> =>
      defer(() => {
        const path = slicePath(name);
        const { properties, limits } = sliceLimits(resources, host);
        const reported = properties.length === 0 ? EMPTY : systemd.setUnitProperties(sliceUnit(name), properties);
        // Without limits nothing is written: systemd is called only for a cgroup that is known to exist.
        return concat(files.update(path, {}), reported, files.update(path, limits)).pipe(ignoreElements());
      }),
    destroy: (name): Call<void> =>
      defer(() => {
        if (!hasSlice(name)) return EMPTY;
        const unit = sliceUnit(name);
        const stopped = systemd
          .unitState(unit)
          .pipe(switchMap((state) => (state === "inactive" ? EMPTY : units.stop(unit))));
        return concat(stopped, files.destroy(slicePath(name))).pipe(ignoreElements());
      }),
    list: (name) =>
      files.list(slicePath(name)).pipe(
        map((directories) =>
          directories
            .map((directory) => parseChildSlice(name, directory))
            .filter((child) => child !== undefined)
            .sort(),
        ),
      ),
  };
}
