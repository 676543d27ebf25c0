/** Measures the system cgroups of a node, for its stats. Without a readable cgroup the result is empty. */
import { map, of, switchMap } from "rxjs";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { driverCgroupPath } from "../../core/resources/cgroupDriver.ts";
import { kubepodsCgroupName } from "../../core/resources/podCgroup.ts";
import type { ContainerStats } from "../../core/stats/summary.ts";
import { systemCgroups, systemContainer } from "../../core/stats/systemContainers.ts";
import type { Call } from "../../ports/call.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";

type Config = Pick<KubeletConfig, "cgroupsPerQos" | "cgroupRoot" | "cgroupDriver" | "nodeCgroups">;

/** Returns the stats in the order of the table of names; omits missing cgroups. */
export function measureSystemContainers(
  { cgroupUsage }: Pick<KubeletPorts, "cgroupUsage">,
  config: Config,
): Call<readonly ContainerStats[]> {
  if (cgroupUsage === undefined) return of([]);
  const pods = config.cgroupsPerQos ? driverCgroupPath(config.cgroupDriver, kubepodsCgroupName(config)) : undefined;
  return cgroupUsage.own().pipe(
    switchMap((own) => {
      const named = systemCgroups(config.nodeCgroups, own, pods);
      const paths = [...new Set(named.map(([, path]) => path))];
      return cgroupUsage
        .read(paths, () => ({}))
        .pipe(
          map((readings) => {
            const byPath = new Map(readings.map((reading) => [reading.path, reading]));
            return named.flatMap(([name, path]) => {
              const reading = byPath.get(path);
              return reading === undefined ? [] : [systemContainer(name, reading)];
            });
          }),
        );
    }),
  );
}
