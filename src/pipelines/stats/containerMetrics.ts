/**
 * Reads cgroups on request: those of pods for every page, and for `/metrics/cadvisor` also those of containers, with
 * the node's disks and interfaces and the measurement that all pages share. Keeps no state; measureNodeStats.ts bounds
 * the requests. Upstream: cadvisor's manager, which measures every 10 s.
 */
import { forkJoin, map, of, switchMap } from "rxjs";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { driverCgroupPath } from "../../core/resources/cgroupDriver.ts";
import { qosCgroupName } from "../../core/resources/podCgroup.ts";
import type { CadvisorMeasurement, NodeDisk } from "../../core/stats/cadvisorSubjects.ts";
import { type CgroupOwner, cgroupOwners } from "../../core/stats/cgroupOwners.ts";
import { deviceAt } from "../../core/stats/diskText.ts";
import type { MeasuredPod } from "../../core/runtime/measuredPods.ts";
import type { PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import type { Summary } from "../../core/stats/summary.ts";
import type { Call } from "../../ports/call.ts";
import type { CgroupLook, CgroupReading, Disks } from "../../ports/cgroupUsage.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { NodeView } from "../../state/nodeState.ts";
import { orUndefined } from "./measuredFigure.ts";

type Ports = Pick<KubeletPorts, "clock" | "cgroupUsage" | "hostUsage" | "telemetry">;
type Config = Pick<KubeletConfig, "cgroupsPerQos" | "cgroupRoot" | "cgroupDriver">;

/** Answers of the runtime and the machine. */
export interface MeasuredNode {
  readonly summary: Summary;
  /** File system that containers write to, as the runtime mounts it. */
  readonly writableFs: string | undefined;
}

/** Makes a measurement. Figures that cannot be measured are omitted, even all figures of the runtime. */
export function measureContainers(
  measured$: Call<MeasuredNode>,
  { runtimeStatuses: statuses }: Pick<NodeView, "runtimeStatuses">,
  ports: Ports,
  config: Config,
): Call<CadvisorMeasurement> {
  const { cgroupUsage, hostUsage } = ports;
  return forkJoin({
    measured: orUndefined(measured$, ports),
    readings:
      cgroupUsage === undefined ? of([]) : orUndefined(readCgroups(statuses.values(), cgroupUsage, config), ports),
    disks: cgroupUsage === undefined ? of(undefined) : orUndefined(cgroupUsage.disks(), ports),
    nodeInterfaces: orUndefined(hostUsage.interfaces(), ports),
  }).pipe(
    switchMap(({ measured, readings = [], disks, nodeInterfaces = [] }) =>
      measureNodeDisks(disks, ports).pipe(
        map((nodeDisks) => ({
          ...{ readings, nodeInterfaces, nodeDisks, pods: statuses.values(), summary: measured?.summary },
          deviceNames: disks?.counters ?? new Map(),
          containerDevice: measured?.writableFs && disks && deviceAt(disks.mounts, measured.writableFs),
        })),
      ),
    ),
  );
}

/** Reads the node's cgroup, those around pods, and those of each pod with its sandbox and containers. */
function readCgroups(
  pods: readonly PodRuntimeStatus[],
  usage: NonNullable<Ports["cgroupUsage"]>,
  config: Config,
): Call<readonly CgroupReading[]> {
  const { top, look } = cgroupsOfPods(pods, config, ({ sandbox, container }) => {
    if (sandbox !== undefined) return { processes: true, network: true };
    return container === undefined ? { below: true } : { processes: true };
  });
  return usage.read([ROOT, ...top], (path) => (path === ROOT ? {} : look(path)));
}

/**
 * Reads the cgroup of each pod, those of its running containers, and that of its sandbox, for its network. Asking the
 * runtime for all pods takes some 20 times as long as reading these files.
 */
export function readPodCgroups(
  pods: readonly MeasuredPod[],
  usage: NonNullable<Ports["cgroupUsage"]>,
  config: Config,
): Call<readonly CgroupReading[]> {
  const { top, look } = cgroupsOfPods(pods, config, ({ sandbox, container }) => {
    if (container !== undefined) return container.state === "running" ? { pressure: true } : undefined;
    return sandbox === undefined ? { below: true, pressure: true } : { network: !sandbox.hostNetwork };
  });
  return usage.read(top, look);
}

/** Returns where the cgroups of pods begin, and what to read there. */
function cgroupsOfPods<Pod extends MeasuredPod>(
  pods: readonly Pod[],
  config: Config,
  lookAt: (owner: CgroupOwner<Pod>) => CgroupLook | undefined,
): { readonly top: readonly string[]; readonly look: (path: string) => CgroupLook | undefined } {
  const ofQos = (["Guaranteed", "Burstable", "BestEffort"] as const).map((qos) =>
    driverCgroupPath(config.cgroupDriver, qosCgroupName(config, qos)),
  );
  const ownerOf = cgroupOwners(pods);
  const look = (path: string): CgroupLook | undefined => {
    if (ofQos.includes(path)) return { below: true };
    const owner = ownerOf(path);
    return owner && lookAt(owner);
  };
  // The cgroup of Guaranteed pods: the others are below it.
  return { top: config.cgroupsPerQos ? ofQos.slice(0, 1) : [], look };
}

const ROOT = "/";

/** Measures block devices, each once even if it is mounted several times. */
function measureNodeDisks(disks: Disks | undefined, ports: Ports): Call<readonly NodeDisk[]> {
  if (disks === undefined) return of([]);
  const mounted = new Map(disks.mounts.toReversed().map((mount) => [mount.device, mount]));
  const devices = [...mounted.values()].filter(({ device }) => device.startsWith("/dev/")).toReversed();
  if (devices.length === 0) return of([]);
  return forkJoin(
    devices.map(({ device, number, mountpoint }) =>
      orUndefined(ports.hostUsage.fileSystem(mountpoint), ports).pipe(
        map((space) => ({ device, counters: disks.counters.get(number), space })),
      ),
    ),
  );
}
