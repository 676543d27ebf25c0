/** Chooses the Cgroups port of a real node by the runtime's driver, and fails at start if that driver cannot work. */
import {
  catchError,
  concat,
  concatMap,
  EMPTY,
  ignoreElements,
  map,
  type Observable,
  of,
  switchMap,
  throwError,
} from "rxjs";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import type { CgroupDriver } from "../core/resources/cgroupDriver.ts";
import { trimmedEnd } from "../core/trimmedEnd.ts";
import { cgroupDriver } from "../pipelines/node/detectCgroupDriver.ts";
import type { Cgroups } from "../ports/cgroup.ts";
import type { Machine } from "../ports/host.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { Systemd } from "../ports/systemd.ts";
import { createBusctl } from "../sinks/busctl.ts";
import { createCgroups } from "../sinks/cgroups.ts";
import { createSystemdCgroups } from "../sinks/systemdCgroups.ts";

/** The driver in use, and the port; undefined if pods have no cgroups. */
export interface PodCgroups {
  readonly cgroupDriver: CgroupDriver;
  readonly cgroups: Cgroups | undefined;
}

type Ports = Pick<KubeletPorts, "runtime" | "clock" | "telemetry" | "files">;

/** Access to systemd and to the cgroup file system. */
export interface CgroupPlace {
  /** The path exists if systemd started the machine; see sd_booted(3). */
  readonly bootedDir: string;
  readonly systemd: Systemd;
  /** Where cgroups are mounted. Default `/sys/fs/cgroup`. */
  readonly cgroupDir?: string;
}

/**
 * Emits once. Errors if the runtime is unreachable, if its driver is systemd and systemd cannot be reached, and if
 * `cgroupRoot` does not exist.
 */
export function podCgroups(
  config: Pick<KubeletConfig, "cgroupsPerQos" | "cgroupDriver" | "cgroupRoot">,
  machine: Pick<Machine, "cgroupVersion">,
  ports: Ports,
  place: CgroupPlace = { bootedDir: "/run/systemd/system", systemd: createBusctl({ clock: ports.clock }) },
): Observable<PodCgroups> {
  if (!config.cgroupsPerQos) return of({ cgroupDriver: config.cgroupDriver, cgroups: undefined });
  const files = createCgroups({
    clock: ports.clock,
    ...(place.cgroupDir !== undefined && { rootDir: place.cgroupDir }),
  });
  return cgroupDriver(config.cgroupDriver, ports).pipe(
    switchMap((driver): Observable<PodCgroups> => {
      if (driver === "cgroupfs") return of({ cgroupDriver: driver, cgroups: files });
      return systemdVersion(ports, place).pipe(
        map((version) => ({
          cgroupDriver: driver,
          cgroups: createSystemdCgroups({
            systemd: place.systemd,
            host: { cgroupVersion: machine.cgroupVersion ?? 2, systemdVersion: version },
            files,
            clock: ports.clock,
          }),
        })),
      );
    }),
    concatMap((found) => concat(checkRoot(config.cgroupRoot, found.cgroups), of(found))),
  );
}

/** Errors when pods cannot have cgroups below the root, which the administrator makes. Upstream: NewContainerManager. */
function checkRoot(cgroupRoot: string, cgroups: Cgroups | undefined): Observable<never> {
  const name = trimmedEnd(cgroupRoot, "/");
  // The root of the hierarchy always exists.
  if (cgroups === undefined || name === "") return EMPTY;
  // An update without limits writes nothing, and fails where the cgroup is missing.
  return cgroups.update(name, {}).pipe(
    ignoreElements(),
    catchError((thrown: unknown) => {
      const { code, message } = toKubeletError(thrown);
      return throwError(() => kubeletError(code, `invalid configuration: cgroupRoot: ${message}`, { cause: thrown }));
    }),
  );
}

function systemdVersion({ files }: Ports, { bootedDir, systemd }: CgroupPlace): Observable<number> {
  return files.kindOf(bootedDir).pipe(
    switchMap((kind) => {
      if (kind === "Directory") return systemd.version();
      return throwError(() => kubeletError("Unavailable", `systemd does not run here: ${bootedDir} is missing`));
    }),
    catchError((thrown: unknown) => {
      const { code, message } = toKubeletError(thrown);
      return throwError(() => kubeletError(code, `the cgroup driver is systemd, but ${message}`, { cause: thrown }));
    }),
  );
}
